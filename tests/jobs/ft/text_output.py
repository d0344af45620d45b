#!/usr/bin/env python3
"""Runs ft on class S, all variants, with --ranks-info, and checks that the text has what it must.

    text_output.py RANKS COMMAND...
"""

import re
import subprocess
import sys

VARIANTS = ("exchange", "slabs", "pencils")
N = r"[0-9]+\.[0-9]+"


def variant_lines(name, ranks):
    return [
        f"variant {name}",
        r"  iteration  1  checksum 5\.546087004964e\+02 4\.845363331978e\+02",
        r"  iteration  6  checksum 5\.54268341190[0-9]e\+02 4\.93259724494[0-9]e\+02",
        "  VERIFICATION SUCCESSFUL",
        rf"  seconds +{N}",
        rf"  Mop/s +{N}",
        rf"  starting communication +{N} s at most, {N} s on average",
        rf"  waiting for it +{N} s at most, {N} s on average",
        r"  messages of each rank +([0-9]+), \1 by Table 1",
    ] + [rf" +{rank} +[0-9]+ +[0-9]+ +{N} +{N}" for rank in range(ranks)]


def main():
    ranks = int(sys.argv[1])
    done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout)
    if done.returncode != 0:
        sys.exit(f"text_output.py: exit status {done.returncode}")

    # The lines must stand in this order, with any others between them.
    expected = [rf"NAS FT class S: grid 64 x 64 x 64, iterations 6, ranks {ranks}, .*"]
    for name in VARIANTS:
        expected += variant_lines(name, ranks)
    expected += [rf"{name} +{N} +{N} +{N} +{N} +[0-9]+" for name in VARIANTS]
    lines = iter(done.stdout.splitlines())
    for pattern in expected:
        if not any(re.fullmatch(pattern, line) for line in lines):
            sys.exit(f"text_output.py: missing, or not in its place: {pattern}")


if __name__ == "__main__":
    main()
