#!/usr/bin/env python3
"""Holds docs/architecture.md against the tree.

    architecture.py ROOT

The drawing of the rooms has a row for those that may not include one another, above all that they may
include (include_arrows.py has the rule), and every room of src/. Rooms aside, whose column ends in the
row above what they may include, are not included by all above that. The list of rooms names the folders of launch/, but need not name conduits, which are
added without a change of any other file. Files that the page names are there.
"""

import os
import re
import sys

from include_arrows import ASIDE, MAY_INCLUDE

PAGE = os.path.join("docs", "architecture.md")
INSIDE = "include/gex"
FILE = re.compile(r"(?<![\w./*-])[\w./-]*\w\.(?:h|cc|c|def|py|md|cmake|txt)\b")


def drawn_rows(text):
    """The rooms of each row of the drawing, the uppermost first. It is the first one in which a row
    begins with the public headers."""
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        rows = []
        for line in block.splitlines():
            cells = [cell.split() for cell in line.strip().split("|")[1:-1]]
            names = [cell[0] for cell in cells if cell]
            if names:
                rows.append(names)
        if [INSIDE] in rows:
            return rows
    return []


def wrong_rows(root, rows):
    rooms = {name for name in os.listdir(os.path.join(root, "src"))
             if os.path.isdir(os.path.join(root, "src", name))}
    below = set()
    for row in reversed(rows):
        for room in row:
            if room == INSIDE:
                continue
            if room not in rooms:
                yield f"draws {room}, which src/ does not have"
                continue
            allowed = MAY_INCLUDE.get(room, set()) & rooms
            if not below - ASIDE <= allowed <= below:
                yield (f"draws {room} above {' '.join(sorted(below)) or 'nothing'}; "
                       f"it may include {' '.join(sorted(allowed)) or 'nothing'}")
        below |= set(row) - {INSIDE}
    for room in sorted(rooms - below):
        yield f"does not draw {room}"


def unlisted_folders(root, text):
    path = os.path.join(root, "src", "launch")
    for name in sorted(os.listdir(path) if os.path.isdir(path) else []):
        if os.path.isdir(os.path.join(path, name)) and not re.search(rf"(?<![\w/]){name}/", text):
            yield f"does not list the folder {name}/ of src/launch/"


def missing_files(root, text):
    present = set()
    for directory, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        for name in names:
            path = os.path.relpath(os.path.join(directory, name), root)
            parts = path.split(os.sep)
            present.update("/".join(parts[at:]) for at in range(len(parts)))
    for name in sorted(set(FILE.findall(text))):
        if name not in present:
            yield f"names {name}, which is not there"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: architecture.py ROOT")
    root = sys.argv[1]
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        text = file.read()
    rows = drawn_rows(text)
    failures = list(wrong_rows(root, rows)) if rows else [f"has no drawing with a row {INSIDE}"]
    failures += unlisted_folders(root, text)
    failures += missing_files(root, text)
    for failure in failures:
        print(f"{PAGE}: {failure}")
    print(f"{sum(map(len, rows))} rooms drawn, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
