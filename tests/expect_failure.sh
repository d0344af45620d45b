#!/bin/sh
# expect_failure.sh [--also <expression>] [--files <folder>] [--patience <seconds>]
#                   <expression> <command>...
# Succeeds when the command is refused in one line:
# - it exits with a status other than 0, not by a signal or a time limit;
# - one line on its standard error matches the extended regular expression, and it prints nothing
#   else but blank lines and what --also matches. Lines of standard output count as well, with
#   "stdout: " before them;
# - no process of it is left, and no file of libgex's in the folder (/dev/shm), once 10 seconds or
#   those given have passed: the guardian of a job may end after the launcher.
set -u
allowed='^(stdout: )?$'
folder=/dev/shm
patience=10
while :; do
  case $1 in
    --also) allowed="$allowed|$2" ;;
    --files) folder=$2 ;;
    --patience) patience=$2 ;;
    *) break ;;
  esac
  shift 2
done
expression=$1
shift

# In the environment of every process of the command.
mark=EXPECT_FAILURE=$$

# Other jobs of libgex, which run beside this one, give a file its name for two system calls only.
files=$(echo "$folder"/gex*)

left_behind() {
  grep -lszFx -e "$mark" /proc/[0-9]*/environ
  for file in "$folder"/gex*; do
    case " $files " in
      *" $file "*) ;;
      *) [ ! -e "$file" ] || echo "$file" ;;
    esac
  done
}

wrong=0
complain() {
  echo "expect_failure: $*"
  wrong=1
}

output=$(
  exec 2>&1
  printed=$(env "$mark" "$@")
  status=$?
  printf '%s' "$printed" | sed 's/^/stdout: /'
  exit "$status"
)
status=$?
printf '%s\n' "$output"

if [ "$status" -eq 0 ]; then
  complain "exit status 0, but the command had to fail"
elif [ "$status" -ge 124 ]; then
  complain "exit status $status is a crash or a time limit, not a refusal"
fi

matching=$(printf '%s\n' "$output" | grep -Ec -e "$expression")
if [ "$matching" != 1 ]; then
  complain "$matching lines, not one, match: $expression"
fi
others=$(printf '%s\n' "$output" | grep -Evc -e "$expression" -e "$allowed")
if [ "$others" != 0 ]; then
  complain "$others more lines were printed, and not declared"
fi

tries=$((patience * 100))
left=$(left_behind)
while [ -n "$left" ] && [ "$tries" -gt 0 ]; do
  sleep 0.01
  tries=$((tries - 1))
  left=$(left_behind)
done
# shellcheck disable=SC2086  # a line each
[ -z "$left" ] || complain "left behind:" $left

exit "$wrong"
