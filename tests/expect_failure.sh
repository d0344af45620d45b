#!/bin/sh
# expect_failure.sh <expression> <command>...: succeeds when the command exits with a status other
# than 0, not by a signal or a time limit, one of the lines it printed matches the extended regular
# expression, and libgex and its launcher told of no more than one error.
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
errors=$(printf '%s\n' "$output" | grep -E '^gex(run)?: ' | grep -Evc '^gex: (rank [0-9]+: )?warning: ')
if [ "$errors" -gt 1 ]; then
  echo "expect_failure: $errors errors, but what is wrong with a job is to be said once"
  exit 1
fi
