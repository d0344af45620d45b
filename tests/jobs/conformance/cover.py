#!/usr/bin/env python3
"""The configurations in which the conformance suite runs on one host.

A configuration has a value in each of five dimensions. The networks and the lines of the cover stand
in cover.txt here, for smp and a conduit outside the tree, and in src/net/<conduit>/cover.txt, for each
conduit of the tree:

  network NAME [VARIABLE=VALUE...]                  what GEX_CONDUIT is for, and what else is set:
                                                    emu-seed-1 is the conduit emu
  needs NAME target                                 without this target of the build it has no runs
  launcher NAME program                             what starts its jobs instead of gexrun; without it
                                                    there are no runs
  instead NAME other                                what `make check` runs where it has no runs
  check|cover NAME ranks mode library supernode     a configuration

All of them together are a written pairwise cover (tests/pairwise.py). Besides, several ranks with
threads run on each network, and what most programs run, the release library over shared memory, with
each number of ranks and in each mode.

The lines that begin with `check` are what `make check` runs of them (the command `check` looks at it
too): each kind of network, every value of the other dimensions but 16 ranks, and each mode with each
library.

  cover.py check | product | generate
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[3]
sys.path.append(str(HERE.parents[2]))

import pairwise  # noqa: E402  below the path

FILES = [HERE.with_name("cover.txt"), *sorted((ROOT / "src" / "net").glob("*/cover.txt"))]


def lines(word):
    """The texts that follow the word in the lines that begin with it."""
    for file in FILES:
        for line in file.read_text().splitlines():
            words = line.split()
            if words and words[0] == word:
                yield words[1:]


DIMENSIONS = {
    "conduit": [words[0] for words in lines("network")],
    "ranks": ["1", "2", "3", "4", "7", "16"],
    "mode": ["seq", "parsync", "par"],
    "library": ["release", "debug", "check"],
    "supernode": ["0", "1", "2"],
}


def possible(row):
    """smp has no network, so its job is one neighborhood. A job on a network is several, or it would
    run as smp does: but one rank is alone whatever the size."""
    conduit, ranks, _, _, supernode = row
    one_neighborhood = supernode == "0" or int(ranks) <= int(supernode)
    return one_neighborhood if conduit == "smp" else not one_neighborhood or ranks == "1"


def more_pairs(row):
    conduit, ranks, mode, library, _ = row
    pairs = set()
    # What a sanitizer for threads runs (CMakeLists.txt): PAR on a few ranks, on each network.
    if mode == "par" and ranks in ("2", "3", "4"):
        pairs.add((("conduit", conduit), ("ranks with threads", "several")))
    if conduit == "smp" and library == "release":
        pairs |= {(("ranks", ranks), ("smp", "release")), (("mode", mode), ("smp", "release"))}
    return pairs


def pairs_of_check(row):
    conduit, ranks, mode, library, supernode = row
    kind = ("network", conduit.split("-")[0])
    singles = {("ranks", ranks)} if ranks != "16" else set()
    singles |= {kind, ("mode", mode), ("library", library), ("supernode", supernode)}
    return {(value, value) for value in singles} | {(("mode", mode), ("library", library))}


class Written(pairwise.Cover):
    """The lines that begin with one of these words."""

    words = ("check", "cover")

    def read(self):
        return [tuple(row) for word in self.words for row in lines(word)]


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        small = Written(DIMENSIONS, None, possible)
        small.words = ("check",)
        small.pairs_of = pairs_of_check
        if small.check() != 0:
            sys.exit(1)
    Written(DIMENSIONS, None, possible, more_pairs, price=lambda row: int(row[1])).main(__doc__)
