#!/usr/bin/env python3
"""Runs a job over the simulated provider and compares what its processes have given it.

    counts.py EXPRESSION COMMAND...

EXPRESSION is of Python, over the numbers of KINDS, the sums of all processes: delivered are the writes
that complete when they are delivered, fetched the sends that their receivers fetch, addresses those of
peers that are inserted. The command must succeed.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

KINDS = ("sends", "writes", "reads", "atomics", "delivered", "fetched", "addresses")


def main():
    expression, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.run(command, env=os.environ | {"FI_GEXSIM_COUNTS": folder}, check=False)
        files = [file.read_bytes() for file in pathlib.Path(folder).iterdir()]
        found = [struct.unpack(f"{len(KINDS)}Q", numbers) for numbers in files]
    sums = dict(zip(KINDS, map(sum, zip(*found))))
    print(sums)
    if job.returncode != 0 or not found or not eval(expression, {}, sums):
        sys.exit(f"status {job.returncode}, or not {expression}")


if __name__ == "__main__":
    main()
