#!/bin/sh
# format.sh [--fix]: fails on a source that clang-format would lay out otherwise; with --fix, lays
# them out.
set -eu
cd "$(dirname "$0")/../.."

folders=
for folder in include src cmd apps tests bench examples upcxx; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086  # folder names without spaces
sources=$(find $folders -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cc')

if [ "${1:-}" = --fix ]; then
  clang-format -i $sources
else
  clang-format --dry-run -Werror $sources
fi
