"""The configurations of a test, as a product of dimensions, and a written pairwise cover of it: every two values
that can stand together do so in one of the cover's lines. For scripts with the commands

  check      fails when the cover misses a pair, or holds an impossible or doubled line
  product    prints every possible configuration
  generate   prints a new cover, for a change of the dimensions
"""

import collections
import itertools
import sys


class Cover:
    """`dimensions`: the values by name. `written`: the path of the cover, a line for each configuration.
    `possible`: whether there is such a configuration. `more_pairs`: what it covers besides, as pairs of
    (a name, a value). `price`: what one would rather have less of."""

    def __init__(self, dimensions, written, possible=lambda row: True, more_pairs=lambda row: set(),
                 price=lambda row: 0):
        self.dimensions = dimensions
        self.written = written
        self.possible = possible
        self.more_pairs = more_pairs
        self.price = price

    def product(self):
        return [row for row in itertools.product(*self.dimensions.values()) if self.possible(row)]

    def pairs_of(self, row):
        return set(itertools.combinations(zip(self.dimensions, row), 2)) | self.more_pairs(row)

    def read(self):
        lines = [line.split() for line in self.written.read_text().splitlines()]
        return [tuple(words) for words in lines if words and not words[0].startswith("#")]

    def check(self):
        rows = self.read()
        everything = set(self.product())
        wrong = [f"not a possible configuration: {' '.join(r)}" for r in rows if r not in everything]
        wrong += [f"twice: {' '.join(r)}" for r in sorted(set(rows)) if rows.count(r) > 1]
        wanted = set().union(*map(self.pairs_of, everything))
        for (a, x), (b, y) in sorted(wanted - set().union(set(), *map(self.pairs_of, rows))):
            wrong.append(f"never together: {a} {x}, {b} {y}")
        print("\n".join(wrong) if wrong else f"{len(rows)} lines cover {len(wanted)} pairs")
        return 1 if wrong else 0

    def generate(self):
        """Greedy: the line with the most new pairs; among equals the cheapest, then what was seldom
        chosen before."""
        missing = set().union(*map(self.pairs_of, self.product()))
        chosen = collections.Counter()
        while missing:

            def gain(row):
                return (len(self.pairs_of(row) & missing), -self.price(row),
                        -sum(chosen[value] for value in row))

            best = max(self.product(), key=gain)
            missing -= self.pairs_of(best)
            chosen.update(best)
            print(" ".join(best))
        return 0

    def print_product(self):
        print("\n".join(" ".join(row) for row in self.product()))
        return 0

    def main(self, usage):
        commands = {"check": self.check, "product": self.print_product, "generate": self.generate}
        if len(sys.argv) != 2 or sys.argv[1] not in commands:
            sys.exit(usage)
        sys.exit(commands[sys.argv[1]]())
