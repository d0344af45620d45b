#!/usr/bin/env python3
"""Checks how the documents of the tree are laid out.

    docs.py ROOT [--fix]

Lines have at most 100 characters, but for table rows and for what has no blank to break at. A cell
of a table in docs/ has at most 150. A link to a file of the tree leads to one, and its #anchor to a
heading there. A code block behind a line that is only a link and a colon, as `[hello.cc](hello.cc):`,
has the text of that file. With --fix, paragraphs and list items with longer lines are wrapped anew,
and such code blocks are copied.
"""

import os
import re
import sys

WIDTH = 100
CELL = 150
FOLDERS = ["docs", "bench", "cmd", "apps", "examples", "tests", "src", "upcxx"]

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)")
# Blanks of a code span are no place to break a line; the span is found as one word.
WORD = re.compile(r"(?:`[^`\n]*`|\S)+")
# A line that begins so would be something else than text.
BEGINS_MARKUP = re.compile(r"^(#+|[-*+>]|\d+[.)]|[|].*|```.*)$")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
QUOTE = re.compile(r"^\[[^\]\n]+\]\(([^()\s#]+)\):\n\n(```\w*\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
# Two bars in a row leave an empty cell; a bar behind a backslash is text.
BAR = re.compile(r"(?<!\\)\|")


def documents(root):
    found = [name for name in os.listdir(root) if name.endswith(".md")]
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(directory, name), root)
                      for name in names if name.endswith(".md")]
    return sorted(found)


def blocks(lines):
    """Yields (kind, lines): `text` is what can be wrapped, `literal` what cannot, `table` and
    `blank` what need not be."""
    at = 0
    in_list = False
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if not line.strip():
            kind = "blank"
        elif FENCE.match(line):
            kind = "literal"
            while end < len(lines) and not FENCE.match(lines[end]):
                end += 1
            end += 1
        elif line.lstrip().startswith("|"):
            kind = "table"
        elif line.startswith("#") or (line.startswith("    ") and not in_list):
            kind = "literal"
        else:
            kind = "text"
            in_list = bool(ITEM.match(line)) or (in_list and line.startswith(" "))
            while end < len(lines) and continues(lines[end]):
                end += 1
        yield kind, lines[at:end]
        at = end


def continues(line):
    """Returns true if a line goes on with the text before it."""
    return bool(line.strip()) and not (FENCE.match(line) or ITEM.match(line)
                                       or line.lstrip().startswith("|") or line.startswith("#"))


def wrapped(lines):
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(r"\s*", lines[0]).group(0)
    rest = " " * len(first)
    words = WORD.findall(" ".join([lines[0][len(first):], *lines[1:]]))
    result = []
    line = first
    for word in words:
        empty = line in (first, rest)
        if not empty and len(line) + 1 + len(word) > WIDTH and not BEGINS_MARKUP.match(word):
            result.append(line)
            line = rest
            empty = True
        line += word if empty else " " + word
    return result + [line]


def is_too_long(line):
    return len(line) > WIDTH and len(WORD.findall(line)) > 1


def laid_out(text):
    """The text as --fix leaves it, and the numbers of the lines of `text` that are too long."""
    result, wrong = [], []
    number = 1
    for kind, lines in blocks(text.splitlines()):
        too_long = [number + index for index, line in enumerate(lines) if is_too_long(line)]
        if too_long and kind != "table":
            wrong += too_long
            result += wrapped(lines) if kind == "text" else lines
        else:
            result += lines
        number += len(lines)
    return "\n".join(result) + "\n", wrong


def anchors(text):
    """The anchors of headings: lower case, blanks as hyphens, without other signs."""
    headings = HEADING.findall(CODE_BLOCK.sub("", text))
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def dead_links(root, path, text):
    for target in LINK.findall(text):
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", file):
            continue
        there = os.path.join(root, os.path.dirname(path), file) if file else os.path.join(root, path)
        if not os.path.exists(there):
            yield f"{path}: links to {file}, which is not there"
        elif anchor and there.endswith(".md"):
            with open(there, encoding="utf-8") as linked:
                if anchor not in anchors(linked.read()):
                    yield f"{path}: links to {target}, which has no such heading"


def quoted(root, path, text):
    """The text with the code blocks that files are copied to as those are, and the names of files from
    which they differed."""
    wrong = []

    def copied(block):
        file, fence, code = block.groups()
        with open(os.path.join(root, os.path.dirname(path), file), encoding="utf-8") as source:
            wanted = source.read()
        if code != wanted:
            wrong.append(file)
        return f"{block.group(0)[:block.start(2) - block.start()]}{fence}{wanted}```"
    return QUOTE.sub(copied, text), wrong


def long_cells(path, text):
    if not path.startswith("docs" + os.sep):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            longest = max(len(cell.strip()) for cell in BAR.split(line))
            if longest > CELL:
                yield f"{path}:{number}: a cell of {longest} characters, of which {CELL} are allowed"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--fix"]
    if len(arguments) != 1:
        sys.exit("usage: docs.py ROOT [--fix]")
    root = arguments[0]
    failures = []
    found = documents(root)
    for path in found:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if "--fix" in sys.argv:
            text = quoted(root, path, laid_out(text)[0])[0]
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        failures += [f"{path}:{line}: longer than {WIDTH} characters" for line in laid_out(text)[1]]
        failures += dead_links(root, path, text)
        failures += long_cells(path, text)
        failures += [f"{path}: the code of {file} is not that of the file"
                     for file in quoted(root, path, text)[1]]
    for failure in failures:
        print(failure)
    print(f"{len(found)} documents, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
