#!/bin/sh
# Stands in for ssh: "reaches" any host by running the command on this one, so that a job of several
# hosts can be tested on one machine. A host named "nowhere" cannot be reached.
#   rsh_here.sh [--late] [--while FILE] HOST COMMAND...
# --while: the connection to a host named "b" breaks when the file is no more.
if [ "$1" = --late ]; then
  shift
  sleep 1
fi
file=
if [ "$1" = --while ]; then
  file=$2
  shift 2
fi
host=$1
shift
if [ "$host" = nowhere ]; then
  echo "rsh: there is no way to $host" >&2
  exit 255
fi
if [ "$host" = b ] && [ -n "$file" ]; then
  exec 3<&0
  "$@" <&3 3<&- &
  while [ -e "$file" ]; do sleep 0.1; done
  exit 255
fi
exec "$@"
