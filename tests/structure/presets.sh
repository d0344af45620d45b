#!/bin/bash
# presets.sh SOURCE_FOLDER: every preset can be configured. Each has settings that a build of another
# never sees.
set -euo pipefail
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
presets=$(cmake --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p')
[ -n "$presets" ]
for preset in $presets; do
  if ! cmake --preset "$preset" -B "$folder/$preset" >"$folder/log" 2>&1; then
    cat "$folder/log"
    echo "the preset $preset cannot be configured"
    exit 1
  fi
  echo "$preset"
done
