#!/usr/bin/env python3
"""Reads the includes of the tree and fails on one that the house forbids.

    include_arrows.py ROOT

Rooms of src/ may know only what stands to their left (docs/architecture.md):

    include <- base <- boot <- shm <- net <- core <- am <- rma <- team
            <- {vis, atomic, coll} <- {legacy, api}

kinds implements an interface of core's and knows nothing above it. A folder of net/ is one conduit:
nothing outside net/ may name it, and conduits do not know one another. Clients (apps/, examples/)
include only what is installed, the example of a conduit net/conduit.h besides. Forbidden includes
are found through any number of headers, and the whole chain is printed.
"""

import os
import re
import sys

ORDER = ["base", "boot", "shm", "net", "core", "am", "rma", "team"]
ABOVE_TEAM = ["vis", "atomic", "coll"]

MAY_INCLUDE = {room: set(ORDER[:i]) for i, room in enumerate(ORDER)}
for room in ABOVE_TEAM:
    MAY_INCLUDE[room] = set(ORDER)
MAY_INCLUDE["kinds"] = {"base", "boot", "shm", "net", "core"}
MAY_INCLUDE["legacy"] = set(ORDER + ABOVE_TEAM)
MAY_INCLUDE["api"] = set(ORDER + ABOVE_TEAM + ["kinds", "legacy"])

CLIENTS = ["apps", "examples"]
# A conduit outside the tree is written against this header and no other.
CONDUIT_INTERFACE = os.path.join("src", "net", "conduit.h")
EXAMPLE_CONDUIT = os.path.join("examples", "conduit", "")
SOURCE = re.compile(r"\.(h|cc|c|def|inc)$")
TRANSLATION_UNIT = re.compile(r"\.(c|cc|cpp|cxx|s|S)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

# About 600 lines is two concepts; well past it there is no doubt.
LONG, TOO_LONG = 600, 900


class Tree:
    """The sources below a root, with what each includes of the others."""

    def __init__(self, root):
        self.root = root
        self.includes = {}
        self.lines = {}
        self.unresolved = []
        for folder in ["include", "src"] + CLIENTS:
            for directory, _, names in os.walk(os.path.join(root, folder)):
                for name in names:
                    if SOURCE.search(name):
                        self.read(os.path.relpath(os.path.join(directory, name), root))

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            text = file.read()
        self.lines[path] = text.count("\n")
        found = self.includes[path] = []
        for match in INCLUDE.finditer(COMMENT.sub("", text)):
            quoted, angled = match.groups()
            target = self.resolve(path, quoted or angled)
            if target:
                found.append(target)
            elif quoted:
                self.unresolved.append((path, quoted))

    def resolve(self, path, name):
        for base in [os.path.dirname(path), "src", "include"]:
            candidate = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(os.path.join(self.root, candidate)):
                return candidate
        return None


def place(path):
    """(room, conduit) of a file of src/, else (top folder, None)."""
    parts = path.split(os.sep)
    if parts[0] != "src":
        return parts[0], None
    if len(parts) < 3:
        return "src", None
    return parts[1], parts[2] if parts[1] == "net" and len(parts) > 3 else None


def forbidden(source, target):
    """Why `source` must not come to see `target`, or None."""
    source_room, source_conduit = place(source)
    target_room, target_conduit = place(target)
    if source_room == "include" or source_room in CLIENTS:
        if target_room in ("include", source_room):
            return None
        if source.startswith(EXAMPLE_CONDUIT) and target == CONDUIT_INTERFACE:
            return None
        return f"{source_room}/ may include only what is installed"
    if target_room == "include":
        return None
    if target_conduit and target_conduit != source_conduit:
        if source_room != "net":
            return f"only net/ may know the conduit {target_conduit}"
        if source_conduit:
            return f"the conduits {source_conduit} and {target_conduit} may not know one another"
    if source_room == target_room:
        return None
    if source_room not in MAY_INCLUDE:
        return f"src/{source_room} is no room of the house"
    if target_room not in MAY_INCLUDE[source_room]:
        return f"{source_room} may not know {target_room}"
    return None


def shortest_chains(tree, start):
    """The files that `start` comes to see, each with the shortest chain of includes to it."""
    chains = {start: [start]}
    frontier = [start]
    while frontier:
        reached = []
        for path in frontier:
            for target in tree.includes.get(path, []):
                if target not in chains:
                    chains[target] = chains[path] + [target]
                    reached.append(target)
        frontier = reached
    del chains[start]
    return chains


def cycles(tree):
    """One chain for each include cycle, from its least file back to it."""
    found = []
    for start in sorted(tree.includes):
        best = None
        for target in tree.includes[start]:
            chain = [start] if target == start else shortest_chains(tree, target).get(start)
            if chain is not None and (best is None or len(chain) < len(best)):
                best = chain
        if best and start == min(best):
            found.append([start] + (best if best != [start] else [start]))
    return found


def violations(tree):
    for path, name in tree.unresolved:
        yield f'{path}: "{name}" is not found in src/, include/ or beside it'
    for path in sorted(tree.includes):
        for target in tree.includes[path]:
            if TRANSLATION_UNIT.search(target):
                yield f"{path}: includes the source file {target}"
        for target, chain in sorted(shortest_chains(tree, path).items()):
            # The file nearest to the mistake reports it; those that include that file do not repeat.
            reason = forbidden(path, target)
            if reason and not any(forbidden(link, target) for link in chain[1:-1]):
                yield f"{' -> '.join(chain)}: {reason}"
    for chain in cycles(tree):
        yield f"include cycle: {' -> '.join(chain)}"
    for path, count in sorted(tree.lines.items()):
        if path.startswith("src" + os.sep) and count > TOO_LONG:
            yield f"{path}: {count} lines are two concepts (limit {TOO_LONG})"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: include_arrows.py ROOT")
    tree = Tree(sys.argv[1])
    if not any(path.startswith("src" + os.sep) for path in tree.includes):
        sys.exit(f"{sys.argv[1]}: no sources below src/")
    for path, count in sorted(tree.lines.items()):
        if path.startswith("src" + os.sep) and LONG < count <= TOO_LONG:
            print(f"warning: {path}: {count} lines; past about {LONG} it may be two concepts")
    found = list(violations(tree))
    for line in found:
        print(line)
    print(f"{len(tree.includes)} files read, {len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
