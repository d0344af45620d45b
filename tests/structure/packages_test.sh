#!/bin/bash
# install-packages.sh installs exactly what is missing, names it in one line without root, and does
# nothing when nothing is missing. dpkg-query, apt-get and id are stood in for.
set -euo pipefail

script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "packages: $*" >&2
  exit 1
}

mkdir "$work/bin"
cp "$script" "$work/install-packages.sh"
cat >"$work/debian-packages.txt" <<'LIST'
# a comment
there      why
absent     why
removed    why

LIST
cat >"$work/bin/dpkg-query" <<'STUB'
#!/bin/sh
for package; do :; done
case "$package" in
  there) printf installed ;;
  removed) printf config-files ;;
  *) exit 1 ;;
esac
STUB
cat >"$work/bin/apt-get" <<'STUB'
#!/bin/sh
echo "$@" >>"$CALLS"
STUB
cat >"$work/bin/id" <<'STUB'
#!/bin/sh
echo "$FAKE_UID"
STUB
chmod +x "$work"/bin/*
export PATH=$work/bin:$PATH CALLS=$work/calls FAKE_UID=1000

status=0
output=$("$work/install-packages.sh" 2>&1) || status=$?
[ "$status" -ne 0 ] || fail "succeeds without root although packages are missing"
[ "$(wc -l <<<"$output")" -eq 1 ] || fail "more than one line: $output"
[[ $output == *"apt-get install"*" absent removed" ]] || fail "names other packages: $output"
[ ! -e "$CALLS" ] || fail "calls apt-get without root"

FAKE_UID=0 "$work/install-packages.sh"
expected=$'update\ninstall --yes --no-install-recommends absent removed'
[ "$(cat "$CALLS")" = "$expected" ] || fail "as root it calls apt-get so: $(cat "$CALLS")"

rm "$CALLS"
printf 'there why\n' >"$work/debian-packages.txt"
for FAKE_UID in 0 1000; do
  output=$("$work/install-packages.sh" 2>&1) || fail "fails although nothing is missing: $output"
  [ -z "$output" ] || fail "speaks although nothing is missing: $output"
done
[ ! -e "$CALLS" ] || fail "calls apt-get although nothing is missing"
