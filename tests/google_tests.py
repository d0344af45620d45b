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
import threading


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
    """Without options and variables that select tests: these are selected here."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("GTEST_FILTER", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX")}
    return {**kept, **more}


def folders_of(shard):
    """Open MPI fails where two jobs that start at once make one folder."""
    folder = os.environ.get("OMPI_MCA_orte_tmpdir_base")
    return {"OMPI_MCA_orte_tmpdir_base": f"{folder}/{shard}"} if folder else {}


def run(program, names, shards):
    """Returns true if all tests pass. Prints what they print, with the number of the process before each line
    if there are several; at once, so that of a test that hangs it is known how far it came."""
    shards = min(shards, len(names))
    if shards == 1:
        return subprocess.run([program], check=False,
                              env=environment(GTEST_FILTER=":".join(names))).returncode == 0
    processes = [subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT,
                                  env=environment(GTEST_FILTER=":".join(names[shard::shards]),
                                                  **folders_of(shard)))
                 for shard in range(shards)]
    printing = threading.Lock()

    def relay(number, process):
        for line in process.stdout:
            with printing:
                sys.stdout.buffer.write(b"%d: %s" % (number, line))
                sys.stdout.buffer.flush()
    threads = [threading.Thread(target=relay, args=one) for one in enumerate(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return all([process.wait() == 0 for process in processes])


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
