#!/bin/sh
# Installs those packages of a list that are missing; touches nothing when none is. Without root it
# names them and fails.
#
#   install-packages.sh [LIST]      default: debian-packages.txt beside it
set -eu

list=${1:-$(dirname "$0")/debian-packages.txt}
wanted=$(sed -e 's/#.*//' "$list" | awk 'NF { print $1 }')

if ! command -v dpkg-query >/dev/null; then
  echo "libgex: not a Debian system; install what $list names" >&2
  exit 1
fi

missing=
for package in $wanted; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "libgex: packages are missing; as root: apt-get update && apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update
# shellcheck disable=SC2086  # the list is meant to be split
apt-get install --yes --no-install-recommends $missing
