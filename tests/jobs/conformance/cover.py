#!/usr/bin/env python3
"""The configurations in which the conformance suite runs.

A configuration has a value in each of five dimensions. cover.txt is a written pairwise cover: every
two values that can stand together do so in one of its lines. Besides, several ranks with threads run
on each network, and what most programs run, the release library over shared memory, with each number
of ranks and in each mode.

  cover.py check      fails when cover.txt misses a pair, or holds an impossible or doubled line
  cover.py product    prints every possible configuration
  cover.py generate   prints a new cover, for a change of the dimensions
"""

import collections
import itertools
import pathlib
import sys

DIMENSIONS = {
    "conduit": ["smp", "emu", "emu-seed-1", "emu-seed-2", "plugin", "ofi"],
    "ranks": ["1", "2", "3", "4", "7", "16"],
    "mode": ["seq", "parsync", "par"],
    "library": ["release", "debug", "check"],
    "supernode": ["0", "1", "2"],
}
COVER = pathlib.Path(__file__).with_name("cover.txt")


def possible(row):
    """smp has no network, so its job is one neighborhood. A job on a network is several, or it would
    run as smp does: but one rank is alone whatever the size."""
    conduit, ranks, _, _, supernode = row
    one_neighborhood = supernode == "0" or int(ranks) <= int(supernode)
    return one_neighborhood if conduit == "smp" else not one_neighborhood or ranks == "1"


def product():
    return [row for row in itertools.product(*DIMENSIONS.values()) if possible(row)]


def threads_of_several(row):
    """What a sanitizer for threads runs (CMakeLists.txt): PAR on a few ranks."""
    return row[2] == "par" and row[1] in ("2", "3", "4")


def pairs_of(row):
    pairs = set(itertools.combinations(enumerate(row), 2))
    # On each network.
    if threads_of_several(row):
        pairs.add(((0, row[0]), (len(DIMENSIONS), "several")))
    if row[0] == "smp" and row[3] == "release":
        pairs |= {((at, row[at]), (len(DIMENSIONS) + 1, "release")) for at in (1, 2)}
    return pairs


def read_cover():
    lines = [line.split() for line in COVER.read_text().splitlines()]
    return [tuple(words) for words in lines if words and not words[0].startswith("#")]


def check():
    rows = read_cover()
    everything = set(product())
    wrong = [f"not a possible configuration: {' '.join(r)}" for r in rows if r not in everything]
    wrong += [f"twice: {' '.join(r)}" for r in sorted(set(rows)) if rows.count(r) > 1]
    wanted = set().union(*map(pairs_of, everything))
    names = [*DIMENSIONS, "ranks with threads", "smp"]
    for (a, x), (b, y) in sorted(wanted - set().union(set(), *map(pairs_of, rows))):
        wrong.append(f"never together: {names[a]} {x}, {names[b]} {y}")
    print("\n".join(wrong) if wrong else f"{len(rows)} lines cover {len(wanted)} pairs")
    return 1 if wrong else 0


def generate():
    """Greedy: the line with the most new pairs; among equals the fewest ranks, then what was seldom
    chosen before."""
    missing = set().union(*map(pairs_of, product()))
    chosen = collections.Counter()
    while missing:

        def gain(row):
            return len(pairs_of(row) & missing), -int(row[1]), -sum(chosen[value] for value in row)

        best = max(product(), key=gain)
        missing -= pairs_of(best)
        chosen.update(best)
        print(" ".join(best))
    return 0


def main(command):
    if command == "product":
        print("\n".join(" ".join(row) for row in product()))
        return 0
    return {"check": check, "generate": generate}[command]()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("check", "product", "generate"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
