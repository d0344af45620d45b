#!/bin/sh
# Stands in for ssh under other launchers: "reaches" a host by running the command on this one, in
# surroundings that have the host's name and differ in nothing else.
#   rsh_named.sh [OPTION]... HOST COMMAND...
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
# shellcheck disable=SC2016  # for the inner shells to expand
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
