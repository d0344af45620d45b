#!/bin/sh
# lanes_kill.sh GEXRUN LANES: a rank that dies while threads of both communicate is named, in one
# line, and ends the job with its status, within the time that a hang would take to be noticed.
output=$(timeout 30 "$1" -n 2 "$2" kill 2>&1)
status=$?
[ "$status" -eq 137 ] || { echo "exit status $status, not 137: $output"; exit 1; }
echo "$output" | grep -q '^gexrun: rank 1 .*killed by signal 9' || { echo "not printed: $output"; exit 1; }
[ "$(echo "$output" | wc -l)" -eq 1 ] || { echo "more than a line: $output"; exit 1; }
