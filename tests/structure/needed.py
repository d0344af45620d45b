#!/usr/bin/env python3
"""Fails when a program or shared library needs others than the C and C++ runtimes.

    needed.py [--also NAME]... FILE...

NAME, such as libgex.so, may be needed as well.
"""

import argparse
import os
import re
import subprocess
import sys

RUNTIMES = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libgcc_s.so",
            "libstdc++.so", "libc++.so", "libc++abi.so", "libunwind.so")


def needed(file):
    listing = subprocess.run(["readelf", "--dynamic", "--wide", file], check=True,
                             capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", listing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    may_be_needed = (*RUNTIMES, *options.also)
    failed = False
    for file in options.files:
        names = needed(file)
        others = [name for name in names if not name.startswith("ld-linux")
                  and re.sub(r"\.so\..*", ".so", name) not in may_be_needed]
        for name in others:
            print(f"{os.path.basename(file)}: needs {name}")
        # Whatever is dynamic needs the C library: without it something else was read.
        if not any(name.startswith("libc.so") for name in names):
            print(f"{os.path.basename(file)}: its dynamic section is not understood")
            others.append(file)
        failed |= bool(others)
        print(f"{os.path.basename(file)}: {' '.join(names)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
