#!/usr/bin/env python3
"""Says where the tests of an earlier commit run now, and fails if one has vanished.

    tiers.py BUILD_FOLDER --parts PART,... [--lacks WHAT,...] [--list]

f00770f.txt lists the tests of that commit. CTest is asked for those of the build: of `make check`, and
of each part of `make check-all`. renames.txt says which tests have other names now. Tests that need
what the build lacks (needs.txt) are absent, and may be.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def lines_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.split() for line in file if line.strip() and not line.startswith("#")]


def entries_of(build, part=None):
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    if part:
        command += ["--build-config", part]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {test["name"] for test in json.loads(done.stdout)["tests"]}


def tiers_of(build, parts):
    """The tier of each test of the build: `check`, or the part that it runs in."""
    tiers = dict.fromkeys(entries_of(build), "check")
    for part in parts:
        for name in entries_of(build, part) - tiers.keys():
            tiers[name] = part
    return tiers


class Rename:
    def __init__(self, old, *new):
        self.old = re.compile(old)
        self.new = new
        self.used = False

    def names(self, old):
        """The names that an old entry has now; null if the rule is not about it."""
        match = self.old.fullmatch(old)
        self.used = self.used or bool(match)
        return [match.expand(name) for name in self.new] if match else None


def names_now(old, renames):
    for rename in renames:
        names = rename.names(old)
        if names is not None:
            return names
    return [old]


def missing(old, needs, lacks):
    """What the build would need for an old entry, and lacks."""
    return next((what for what, pattern in needs if what in lacks and re.search(pattern, old)), None)


def judge(old_entries, now, renames, needs, lacks):
    """Rows (old name, tier then, tiers now), and complaints."""
    rows = []
    complaints = []
    for then, old in old_entries:
        lacking = missing(old, needs, lacks)
        if lacking:
            rows.append((old, then, f"absent: no {lacking}"))
            continue
        names = names_now(old, renames)
        gone = [name for name in names if name not in now]
        if gone:
            complaints.append(f"{old} has vanished: there is no {' and no '.join(gone)}")
            continue
        rows.append((old, then, " and ".join(sorted({now[name] for name in names}))))
    complaints += [f"renames.txt: no old entry matches {rename.old.pattern}"
                   for rename in renames if not rename.used and not lacks]
    return rows, complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--parts", required=True)
    parser.add_argument("--lacks", default="")
    parser.add_argument("--list", action="store_true", help="print where each test runs")
    options = parser.parse_args()
    now = tiers_of(options.build, options.parts.split(","))
    renames = [Rename(*words) for words in lines_of("renames.txt")]
    rows, complaints = judge(lines_of("f00770f.txt"), now, renames, lines_of("needs.txt"),
                             set(filter(None, options.lacks.split(","))))
    if options.list:
        for old, then, tiers in rows:
            print(f"{then:10} {tiers:20} {old}")
    for (then, tiers), count in sorted(collections.Counter(row[1:] for row in rows).items()):
        print(f"{count:5} were in {then}, are in {tiers}")
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
