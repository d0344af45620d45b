#!/usr/bin/env python3
"""Runs ft and compares the messages and bytes that every rank sent with Table 1 of the paper.

    messages.py CLASS RANKS PADDING COMMAND...

COMMAND launches ft with --json on RANKS ranks, all three variants. Exits with 1 and one line for
each disagreement.
"""

import json
import subprocess
import sys

COMPLEX = 16

# Class: (nx, ny, nz, iterations), from the NAS report and not from the program under test.
CLASSES = {
    "S": (64, 64, 64, 6),
    "W": (128, 128, 32, 6),
    "A": (256, 256, 128, 6),
}


def transpose_messages(variant, planes, rows, ranks):
    """Messages of one rank that owns `planes` planes of `rows` rows; for n^3, n/ranks of n."""
    return {
        "exchange": ranks,
        "slabs": ranks * planes,
        "pencils": rows * planes,
    }[variant]


def main():
    problem, ranks, padding = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    nx, ny, nz, iterations = CLASSES[problem]
    done = subprocess.run(sys.argv[4:], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"messages.py: exit status {done.returncode}")
    report = json.loads(done.stdout)

    faults = []
    names = [variant["variant"] for variant in report["variants"]]
    if names != ["exchange", "slabs", "pencils"]:
        faults.append(f"variants {names}")
    for variant in report["variants"]:
        name = variant["variant"]
        # One forward transform from planes of z, and an inverse one from planes of y an iteration.
        messages = transpose_messages(name, nz // ranks, ny, ranks)
        messages += iterations * transpose_messages(name, ny // ranks, nz, ranks)
        size = (iterations + 1) * (nx + padding) * ny * nz // ranks * COMPLEX
        if len(variant["ranks"]) != ranks:
            faults.append(f"{name}: {len(variant['ranks'])} ranks reported of {ranks}")
        for rank, sent in enumerate(variant["ranks"]):
            if sent["messages"] != messages:
                faults.append(f"{name}: rank {rank} sent {sent['messages']} messages, not {messages}")
            if sent["bytes"] != size:
                faults.append(f"{name}: rank {rank} sent {sent['bytes']} bytes, not {size}")
        if not variant["verified"]:
            faults.append(f"{name}: not verified")
        if len(variant["checksums"]) != iterations:
            faults.append(f"{name}: {len(variant['checksums'])} checksums, not {iterations}")
    print(f"class {problem}, {ranks} ranks: {len(faults)} disagreements")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
