#!/usr/bin/env python3
"""Where no hosts can be made of namespaces, the tests that need them print that in one line and are
skipped: because the machine has not all that such a network takes, or their user is not root."""

import contextlib
import io
import os
import shutil
import sys
import tempfile

import faults
import hosts_test
import namespaces

UNPRIVILEGED = 65534


def run(program, folder, *arguments):
    sys.argv = [program.__name__, "--bin", folder, *arguments]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = program.main()
    return status, printed.getvalue().splitlines()


def expect_skipped(folder, why):
    for program, arguments in ((hosts_test, ("--group", "launch")), (faults, ())):
        status, lines = run(program, folder, *arguments)
        if (status != namespaces.SKIPPED or len(lines) != 1 or why not in lines[0] or
                not lines[0].startswith("skipped: no hosts can be made")):
            sys.exit(f"{program.__name__}: status {status}, {lines}")


@contextlib.contextmanager
def without(folder, command, what):
    """A command that fails when `what` is among its words, as for a kernel that does not have it."""
    path = os.path.join(folder, command)
    with open(path, "w", encoding="utf-8") as script:
        script.write(f'#!/bin/sh\ncase "$*" in *{what}*) echo no {what} here >&2; exit 2 ;; esac\n'
                     f'exec {shutil.which(command)} "$@"\n')
    os.chmod(path, 0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}:{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
        os.remove(path)


def hosts_can_be_made(folder):
    try:
        with namespaces.Network(1, folder):
            return True
    except namespaces.Forbidden:
        return False


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        if hosts_can_be_made(folder):
            for command, what in (("ip", "bridge"), ("ip", "veth"), ("tc", "tbf")):
                with without(folder, command, what):
                    expect_skipped(folder, f"no {what} here")
    if os.geteuid() == 0:
        os.setuid(UNPRIVILEGED)
    # Some folder with a bin in it, which that user can read.
    expect_skipped("/usr", "")


if __name__ == "__main__":
    main()
