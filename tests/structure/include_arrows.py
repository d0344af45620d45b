#!/usr/bin/env python3
"""Reads the includes of the tree and fails on one that the house forbids.

    include_arrows.py ROOT

Rooms of src/ may include only what stands to their left (docs/architecture.md):

    include <- base <- job <- shm <- net <- core <- {observe, way} <- am <- rma <- team
            <- {vis, atomic, coll} <- {legacy, api}

tools, launch and kinds stand aside: api alone includes them. tools includes base; kinds includes core and what
core includes; launch includes base and, of job, the frames of the control protocol and what goes with them. A folder of launch/ may include what is in
none, and those folders that FOLDERS_OF_LAUNCH names. A folder of net/ is one conduit, but kit, which
is there for all of them: nothing outside net/ may name one, and conduits do not include one another.
Nor do the folders of kinds/, each a class of memory, which nothing outside kinds/ may name.
Clients (apps/, examples/, upcxx/) include only what is installed. Forbidden includes are found
through any number of headers, and the whole chain is printed.

A concept is a header with the source of the same name. The concepts of a room, or of such a
folder, form no circle. A room does not forward-declare types of a room that it may not include. A
file has at most 600 lines; tests may have more.
"""

import os
import re
import sys

ORDER = ["base", "job", "shm", "net", "core", "observe", "way", "am", "rma", "team"]
ABOVE_TEAM = ["vis", "atomic", "coll"]

MAY_INCLUDE = {room: set(ORDER[:i]) for i, room in enumerate(ORDER)}
# It is beside observe.
MAY_INCLUDE["way"].remove("observe")
for room in ABOVE_TEAM:
    MAY_INCLUDE[room] = set(ORDER)
MAY_INCLUDE["legacy"] = set(ORDER + ABOVE_TEAM)
# Rooms that api alone may include.
ASIDE = {"tools", "launch", "kinds"}
MAY_INCLUDE["tools"] = {"base"}
MAY_INCLUDE["launch"] = {"base", "job"}
MAY_INCLUDE["kinds"] = set(ORDER[:ORDER.index("core") + 1])
MAY_INCLUDE["api"] = set(ORDER + ABOVE_TEAM + ["legacy"]) | ASIDE

# What launch may include of job: headers.
FRAMES = {"host_parts", "job_page", "last_call", "launch_hook", "limits", "memory_way", "protocol",
          "packed_table", "rank_set", "rank_status", "rank_variables"}
# What a folder of launch/ may include besides what is in none of them.
FOLDERS_OF_LAUNCH = {"": {"hang"}, "hang": set(), "map": {"hang"}, "hosts": {"hang"},
                     "local": {"hang", "hosts"}, "client": {"hang", "hosts", "local"},
                     "agents": {"hang", "hosts", "local", "map"}}

CLIENTS = ["apps", "examples", "upcxx"]
# Folders of which only the lines are counted.
PROGRAMS = ["bench", "cmd"]
# The folder of net/ that conduits share.
KIT = "kit"
# Rooms of which a folder stands for itself, and what it is called.
OF_FOLDERS = {"net": ("conduit", "conduits"), "kinds": ("class", "classes")}
SOURCE = re.compile(r"\.(h|hpp|cc|c|def|inc)$")
TRANSLATION_UNIT = re.compile(r"\.(c|cc|cpp|cxx|s|S)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

MAX_LINES = 600

# Comments, strings, characters, directives, and what may stand between `class` and the name.
NO_DECLARATION = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    r"|^[ \t]*#(?:\\\n|[^\n])*|\[\[.*?\]\]|\balignas\s*\((?:[^()]|\([^()]*\))*\)",
    re.DOTALL | re.MULTILINE)
DECLARATION = re.compile(
    r"\bnamespace\b(?P<namespace>[\w:\s]*)\{"
    r"|\b(?P<friend>friend\s+)?(?:enum\s+class|enum\s+struct|enum|class|struct|union)\s+"
    r"(?P<type>(?:\w+::)*\w+)"
    r"(?:\s+final)?(?:\s*:(?!:)[^;{}()]*)?\s*(?P<end>[;{*&])"
    r"|(?P<brace>[{}])")


def types(path, text):
    """(qualified names, whether it is defined there) of the types that a source declares. Of
    several names the first is meant that there is: `struct Team*` and `friend` look outwards. What
    is in an unnamed namespace is of that source alone, and has the path in its name."""
    scopes = []
    for match in DECLARATION.finditer(NO_DECLARATION.sub(" ", text)):
        name = match.group("type")
        if match.group("brace") == "}":
            del scopes[-1:]
        elif match.group("brace"):
            scopes.append("")
        elif name:
            end = match.group("end")
            around = [scope for scope in scopes if scope]
            looks_outwards = match.group("friend") or end in "*&"
            least = 0 if looks_outwards else len(around)
            yield ["::".join(around[:depth] + [name]) for depth in range(len(around), least - 1, -1)
                   ], end == "{"
            if end == "{":
                scopes.append(name)
        else:
            scopes.append(match.group("namespace").strip() or f"({path})")


class Tree:
    """The sources below a root: what each includes of the others, and which types it declares."""

    def __init__(self, root):
        self.root = root
        self.includes = {}
        self.lines = {}
        self.unresolved = []
        self.declared = {}  # path: the types that it declares, as `types` names them
        self.defined = {}  # type: the paths that define it
        for path in self.sources(["include", "src"] + CLIENTS):
            self.read(path)
        for path in self.sources(PROGRAMS):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                self.lines[path] = file.read().count("\n")

    def sources(self, folders):
        for folder in folders:
            for directory, _, names in os.walk(os.path.join(self.root, folder)):
                for name in names:
                    if SOURCE.search(name):
                        yield os.path.relpath(os.path.join(directory, name), self.root)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            text = file.read()
        self.lines[path] = text.count("\n")
        self.declared[path] = []
        for names, defined in types(path, text):
            self.declared[path].append(names)
            if defined:
                self.defined.setdefault(names[0], []).append(path)
        found = self.includes[path] = []
        for match in INCLUDE.finditer(COMMENT.sub("", text)):
            quoted, angled = match.groups()
            target = self.resolve(path, quoted or angled)
            if target:
                found.append(target)
            elif quoted:
                self.unresolved.append((path, quoted))

    def resolve(self, path, name):
        for base in [os.path.dirname(path), "src", "include", "upcxx/include"]:
            candidate = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(os.path.join(self.root, candidate)):
                return candidate
        return None


def place(path):
    """(room, conduit or class of memory) of a file of src/, else (top folder, None)."""
    parts = path.split(os.sep)
    if parts[0] != "src":
        return parts[0], None
    if len(parts) < 3:
        return "src", None
    return parts[1], parts[2] if parts[1] in OF_FOLDERS and len(parts) > 3 else None


def forbidden_in_launch(source, target):
    """Why a file of launch/ must not come to see one of launch/ or job/, or None."""
    room, name = target.split(os.sep)[1], os.path.splitext(os.path.basename(target))[0]
    if room == "job":
        return None if name in FRAMES else f"launch may include of job only its frames, not {name}"
    folders = [os.sep.join(path.split(os.sep)[2:-1]) for path in (source, target)]
    for folder in folders:
        if folder not in FOLDERS_OF_LAUNCH:
            return f"launch/{folder} is no folder of the launcher"
    if folders[1] in {"", folders[0]} | FOLDERS_OF_LAUNCH[folders[0]]:
        return None
    return f"launch/{folders[0]} may not include launch/{folders[1]}".replace("launch/ ", "launch ")


def forbidden(source, target):
    """Why `source` must not come to see `target`, or None."""
    source_room, source_folder = place(source)
    target_room, target_folder = place(target)
    if source_room == "include" or source_room in CLIENTS:
        is_of_upcxx = source_room != "include" and target.startswith("upcxx/include/")
        if target_room in ("include", source_room) or is_of_upcxx:
            return None
        return f"{source_room}/ may include only what is installed"
    if target_room == "include":
        return None
    if target_folder and (target_room, target_folder) != (source_room, source_folder):
        one, several = OF_FOLDERS[target_room]
        if source_room != target_room:
            return f"only {target_room}/ may include the {one} {target_folder}"
        if source_folder and (target_room, target_folder) != ("net", KIT):
            return f"the {several} {source_folder} and {target_folder} may not include one another"
    if source_room == "launch" and target_room in {"launch", "job"}:
        return forbidden_in_launch(source, target)
    if source_room == target_room:
        return None
    if source_room not in MAY_INCLUDE:
        return f"src/{source_room} is no room of the house"
    if target_room not in MAY_INCLUDE[source_room]:
        return f"{source_room} may not include {target_room}"
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


def concept(path):
    return os.path.splitext(path)[0]


def concept_circles(tree):
    """The folder of each circle, and the circle as (file, included file) pairs: enough of them that
    every concept in a circle is in one."""
    steps = {}  # concept: {concept: the include that leads there}
    for path in sorted(tree.includes):
        for target in tree.includes[path]:
            same_room = path.startswith("src" + os.sep) and place(path) == place(target)
            if same_room and concept(path) != concept(target):
                steps.setdefault(concept(path), {}).setdefault(concept(target), (path, target))
    reported = set()
    for start in sorted(steps):
        ways = {start: []}
        frontier = [start]
        while frontier and start not in reported:
            at = frontier.pop(0)
            for following, step in sorted(steps.get(at, {}).items()):
                if following == start:
                    circle = ways[at] + [step]
                    reported.update(concept(source) for source, _ in circle)
                    yield os.path.dirname(start), circle
                    frontier = []
                    break
                if following not in ways:
                    ways[following] = ways[at] + [step]
                    frontier.append(following)


def upward_declarations(tree):
    """(file, type, the file that defines it, why that is forbidden) of each declaration of a
    type of a room that the file may not include."""
    for path in sorted(tree.declared):
        if not path.startswith("src" + os.sep):
            continue
        meant = {next((name for name in names if name in tree.defined), None)
                 for names in tree.declared[path]}
        for name in sorted(meant - {None}):
            reasons = [(target, forbidden(path, target)) for target in tree.defined[name]]
            if all(reason for _, reason in reasons):
                yield path, name, *reasons[0]


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
    for folder, circle in concept_circles(tree):
        chain = ", ".join(f"{source} includes {target}" for source, target in circle)
        yield f"{folder}: concepts in a circle: {chain}"
    for path, name, target, reason in upward_declarations(tree):
        yield f"{path}: declares {name} of {target}: {reason}"
    for path, count in sorted(tree.lines.items()):
        if count > MAX_LINES:
            yield f"{path}: {count} lines are two concepts (limit {MAX_LINES})"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: include_arrows.py ROOT")
    tree = Tree(sys.argv[1])
    if not any(path.startswith("src" + os.sep) for path in tree.includes):
        sys.exit(f"{sys.argv[1]}: no sources below src/")
    found = list(violations(tree))
    for line in found:
        print(line)
    print(f"{len(tree.includes)} files read, {len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
