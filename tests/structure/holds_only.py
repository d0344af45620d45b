#!/usr/bin/env python3
"""Fails when a program holds something of rooms that it does not use.

    holds_only.py PROGRAM --of ARCHIVE... --not-of ARCHIVE...

The program has symbols that the former archives define for others, and none that only the latter do.
Names are those of the interface and of the namespace gex; the program is not stripped.
"""

import argparse
import os
import re
import subprocess
import sys

OURS = re.compile(r"^(gex|gasnet|_?gasnett|_?gasneti)_|^_Z\w*3gex")


def defined(file, *options):
    listing = subprocess.run(["nm", "--defined-only", "--format=posix", *options, file], check=True,
                             capture_output=True, text=True).stdout
    names = {line.split()[0] for line in listing.splitlines() if len(line.split()) >= 2}
    return {name for name in names if OURS.match(name)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--of", nargs="+", required=True)
    parser.add_argument("--not-of", nargs="+", required=True)
    options = parser.parse_args()
    name = os.path.basename(options.program)
    held = defined(options.program)
    known = set().union(*(defined(archive, "--extern-only") for archive in options.of))
    failed = False
    for archive in options.not_of:
        others = defined(archive, "--extern-only") - known
        for symbol in sorted(held & others):
            print(f"{name}: holds {symbol} of {os.path.basename(archive)}")
            failed = True
        # Otherwise something else was read.
        if not others:
            print(f"{archive}: defines nothing of its own")
            failed = True
    if not held & known:
        print(f"{name}: holds nothing of what it uses")
        failed = True
    print(f"{name}: {len(held)} symbols of ours, {len(held & known)} of those that it may hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
