#!/usr/bin/env python3
"""Fails if the runs of the conformance suite in `make check` leave out a body: each runs in one
neighborhood and over a network. The file has a line for each run: conduit, program, filter.

  bodies.py <file>
"""

import functools
import pathlib
import subprocess
import sys


@functools.cache
def bodies(program, chosen):
    """Names of the bodies that a filter of GoogleTest's leaves."""
    listed = subprocess.run([program, f"--gtest_filter={chosen}", "--gtest_list_tests"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    names = set()
    suite = ""
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith(" "):
            names.add(suite + name)
        else:
            suite = name
    return frozenset(names)


def main(path):
    everything = set()
    run = {"one neighborhood": set(), "a network": set()}
    for line in pathlib.Path(path).read_text().splitlines():
        conduit, program, chosen = line.split(" ", 2)
        everything |= bodies(program, "*")
        run["one neighborhood" if conduit == "smp" else "a network"] |= bodies(program, chosen)
    missing = [f"{name} does not run in {place}" for place, names in run.items()
               for name in sorted(everything - names)]
    print("\n".join(missing) if missing else f"{len(everything)} bodies run in each")
    return 1 if missing or not everything else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
