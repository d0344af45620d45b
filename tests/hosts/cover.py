#!/usr/bin/env python3
"""The configurations in which the conformance suite runs on two hosts.

`make check-hosts` runs the product, and three hosts; under a sanitizer cover.txt, which is a written
pairwise cover (tests/pairwise.py).

  cover.py check | product | generate
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path.append(str(HERE.parents[1]))

import pairwise  # noqa: E402  below the path

DIMENSIONS = {
    "network": ["tcp", "ofi", "udp"],
    "ranks a host": ["1", "2"],
    "layout": ["block", "cyclic"],
    "mode": ["seq", "parsync", "par"],
    "library": ["release", "check"],
}


def possible(row):
    """With one rank on each host there is one layout."""
    return row[1] != "1" or row[2] == "block"


if __name__ == "__main__":
    pairwise.Cover(DIMENSIONS, HERE.with_name("cover.txt"), possible,
                   price=lambda row: int(row[1])).main(__doc__)
