#!/usr/bin/env python3
"""misuse.py EXPRESSION COMMAND...: a job that must be refused.

It succeeds when the command exits with a status other than 0, not by a signal or a time limit; when
what it prints is one line, and the regular expression is found in it; and when no process of it is
left.
"""

import os
import pathlib
import re
import subprocess
import sys
import time
import uuid

MARK = "CONFORMANCE_MISUSE"
# The guardian of a job may end after the launcher.
PATIENCE_SECONDS = 10


def processes_with(mark):
    wanted = f"{MARK}={mark}".encode()
    found = []
    for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in environ.read_bytes().split(b"\0"):
                found.append(environ.parent.name)
        except OSError:
            continue
    return found


def main(expression, command):
    mark = uuid.uuid4().hex
    job = subprocess.run(
        command, env={**os.environ, MARK: mark}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False)
    sys.stdout.write(job.stdout)
    wrong = []
    if job.returncode == 0:
        wrong.append("exit status 0")
    elif job.returncode < 0 or job.returncode >= 124:
        wrong.append(f"exit status {job.returncode} is a crash, a time limit or a wrong case")
    lines = [line for line in job.stdout.splitlines() if line.strip()]
    if len(lines) != 1:
        wrong.append(f"{len(lines)} lines instead of one")
    if not any(re.search(expression, line) for line in lines):
        wrong.append(f"no line matches: {expression}")
    end = time.monotonic() + PATIENCE_SECONDS
    while processes_with(mark) and time.monotonic() < end:
        time.sleep(0.05)
    if processes_with(mark):
        wrong.append(f"processes are left: {' '.join(processes_with(mark))}")
    for line in wrong:
        print(f"misuse.py: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
