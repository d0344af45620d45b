#!/bin/sh
# expect_failure.sh <expression> <command>...: succeeds when the command exits with a status other
# than 0, not by a signal or a time limit, and one of the lines it printed matches the extended
# regular expression.
set -u
expression=$1
shift
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
if [ "$status" -eq 0 ]; then
  echo "expect_failure: exit status 0, but the command had to fail"
  exit 1
fi
if [ "$status" -ge 124 ]; then
  echo "expect_failure: exit status $status is a crash or a time limit, not a refusal"
  exit 1
fi
if ! printf '%s\n' "$output" | grep -Eq -e "$expression"; then
  echo "expect_failure: no line matches: $expression"
  exit 1
fi
