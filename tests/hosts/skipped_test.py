#!/usr/bin/env python3
"""Where no hosts can be made of namespaces, the tests that need them say so in one line and are
skipped: here, because whoever runs them is not root."""

import contextlib
import io
import os
import sys

import faults
import hosts_test
import namespaces

NOBODY = 65534


def run(program, *arguments):
    sys.argv = [program.__name__, "--bin", "/nonexistent", *arguments]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = program.main()
    return status, said.getvalue().splitlines()


def main():
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    for program, arguments in ((hosts_test, ("--group", "launch")), (faults, ())):
        status, lines = run(program, *arguments)
        said = [line for line in lines if line.startswith("skipped: no hosts can be made")]
        if status != namespaces.SKIPPED or len(said) != 1:
            print(f"{program.__name__}: status {status}, {lines}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
