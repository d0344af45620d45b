#!/usr/bin/env python3
"""google_tests.py runs each test once, whatever the filters and shards, and sees what fails."""

import fnmatch
import os
import re
import subprocess
import sys
import tempfile

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "google_tests.py")
NAMES = ["Plain.One", "Plain.Two", "Job/Kill.ARank/fork", "Job/Kill.ARank/hosts", "Job/Kill.Bad/fork"]


def matches(name, chosen):
    wanted, _, unwanted = chosen.partition("-")
    return (any(fnmatch.fnmatchcase(name, one) for one in (wanted or "*").split(":")) and
            not any(fnmatch.fnmatchcase(name, one) for one in unwanted.split(":") if one))


def behave_as_tests(arguments):
    """Lists and runs tests as GoogleTest does; one with Bad in its name fails."""
    given = [word.split("=", 1)[1] for word in arguments if word.startswith("--gtest_filter=")]
    chosen = [name for name in NAMES
              if matches(name, given[0] if given else os.environ.get("GTEST_FILTER", "*"))]
    if "--gtest_list_tests" in arguments:
        print("Running main()")
        suite = None
        for name in chosen:
            if name.split(".")[0] != suite:
                suite = name.split(".")[0]
                print(suite + ".")
            print("  " + name.split(".")[1] + "  # GetParam() = a: b")
        return 0
    print("".join(f"ran {name}\n" for name in chosen), end="")
    return any("Bad" in name for name in chosen)


def ran(program, *arguments):
    done = subprocess.run([sys.executable, RUNNER, *arguments, program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, sorted(re.findall(r"ran (\S+)", done.stdout)), done.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"google_tests_test.py: {what}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        with open(program, "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" '
                         'as-tests "$@"\n')
        os.chmod(program, 0o755)
        chosen = "*/fork:Plain.*-*Two"
        for shards in ("1", "2", "9"):
            status, only, _ = ran(program, "--shards", shards, f"--only={chosen}")
            expect(status == 1, f"a failing test is not seen, {shards} shards")
            status, rest, _ = ran(program, "--shards", shards, f"--except={chosen}")
            expect(status == 0, f"passing tests fail, {shards} shards")
            expect(sorted(only + rest) == sorted(NAMES), f"not each test once: {only}, {rest}")
        status, some, _ = ran(program, "--of=*Kill*", "--without=*Bad*:*hosts", "--only=*")
        expect((status, some) == (0, ["Job/Kill.ARank/fork"]), f"other tests: {some}")
        status, _, printed = ran(program, "--only=Nothing.*")
        expect(status == 1 and "no test of" in printed, "no test to run is taken for success")


if __name__ == "__main__":
    if sys.argv[1:2] == ["as-tests"]:
        sys.exit(behave_as_tests(sys.argv[2:]))
    main()
