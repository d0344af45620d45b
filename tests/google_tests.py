#!/usr/bin/env python3
"""Runs tests of a GoogleTest program, several at once where they mostly wait.

    google_tests.py [--only FILTER | --except FILTER] [--of FILTER] [--without FILTER]
                    [--shards N] PROGRAM

Filters are GoogleTest's. `--only` runs the tests that the filter matches, `--except` all the others, so
that two entries with one filter run each test once between them. Of the program's tests only those
are looked at that match `--of` and not `--without`. The tests are dealt to N processes. Fails if a test fails, and if none is left to run.
"""

import argparse
import os
import subprocess
import sys
import tempfile


def listed(program, chosen):
    """The full names of the tests that a filter matches."""
    lines = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={chosen}"], text=True,
                           stdout=subprocess.PIPE, check=True, env=environment()).stdout.splitlines()
    names = []
    suite = ""
    for line in lines:
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def environment(**more):
    """Without what says which tests to run: that is said here."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("GTEST_FILTER", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX")}
    return {**kept, **more}


def run(program, names, shards):
    """Whether all tests pass."""
    with tempfile.TemporaryDirectory(prefix="google-tests-") as folder:
        running = []
        for shard in range(min(shards, len(names))):
            output = open(os.path.join(folder, str(shard)), "w+b")
            running.append((output, subprocess.Popen(
                [program], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=environment(GTEST_FILTER=":".join(names[shard::shards])))))
        passed = True
        for output, process in running:
            passed = process.wait() == 0 and passed
            output.seek(0)
            sys.stdout.buffer.write(output.read())
            output.close()
    return passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("--except", dest="excepted")
    parser.add_argument("--of", default="*")
    parser.add_argument("--without")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("program")
    options = parser.parse_args()
    names = listed(options.program, options.of)
    if options.only:
        kept = set(listed(options.program, options.only))
        names = [name for name in names if name in kept]
    for unwanted in filter(None, (options.excepted, options.without)):
        left_out = set(listed(options.program, unwanted))
        names = [name for name in names if name not in left_out]
    if not names:
        sys.exit(f"google_tests.py: no test of {options.program} is left to run")
    sys.stdout.flush()
    sys.exit(0 if run(options.program, names, options.shards) else 1)


if __name__ == "__main__":
    main()
