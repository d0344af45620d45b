#!/usr/bin/env python3
"""Reads sources and fails on a word that the field does not use.

    words.py ROOT

Identifiers, comments and string literals of all sources and templates in the folders FOLDERS, and of
FILES, are checked, and the text of all documents but CHANGELOG.md, which has the words of its time. For
each word the field's own is printed; docs/glossary.md lists those.
"""

import bisect
import os
import re
import sys

from docs import documents

FOLDERS = ["apps", "bench", "cmake", "cmd", "examples", "include", "src", "tests", "tools",
           "upcxx"]

FILES = ["Makefile", "CMakeLists.txt", ".ci/run"]
SOURCE = re.compile(r"\.(h|hpp|cc|c|def|inc|cmake|py|sh|in|txt|map|h2m|f90|rs|go)$|Makefile$|^\.ci/run$|"
                    r"^tools/[\w-]+$")
HISTORY = "CHANGELOG.md"
# They name the words themselves.
OWN = {"tests/structure/words.py", "tests/structure/words_test.py"}
# What a comment may not leave out, a table may: a row below another.
INCOMPLETE = "say the whole: a comment is complete by itself"
NOUN = "begin with the noun: The size of ..., Ranks that ..."

# Words as they are found in text and in identifiers, where `in_vain` and `InVain` are "in vain".
# A blank also matches a line break and the gap between string literals.
WORDS = [
    (r"in vain|vain wait", "a wait for an exited peer; without effect"),
    (r"(?<!there )(?:is|are|was|were) none", "is invalid; is no ...; does not exist"),
    (r"let(?:s|ting)? go", "release, detach, disconnect"),
    (r"the same but|the same of|the same for", INCOMPLETE),
    (r"last words", "last frames, final output"),
    (r"no news", "expected; not reported"),
    (r"without a word", "before it has sent anything"),
    (r"guests?", "pending connection"),
    (r"strangers?", "unauthenticated peer"),
    (r"greet(?:s|ed|ings?)?", "handshake"),
    (r"believe[sd]?", "accept, validate, trust"),
    (r"judge[sd]?", "check, evaluate"),
    (r"haste|hurried", "teardown, urgent"),
    (r"dut(?:y|ies)", "deferred update, task"),
    (r"bearers?", "message that carries ..."),
    (r"tells?|told|telling", "report, send, inform; distinguish"),
    (r"hears?|heard|hearing", "receive"),
    # upcxx::experimental::say is the specification's.
    (r"(?<!experimental )(?<!using )says?|said", "send, print, state, report"),
    (r"knows?|knew", "have, hold, detect"),
    (r"whoever|whomever|whosoever", "name it: the caller, the process that ..."),
    (r"(?:some|any|no|every)body|(?:some|any|every)ones?",
     "name it: another process, no rank, all ranks"),
]

# Spelling that matters: prefixes of identifiers, and the beginning of a comment or a sentence.
# (text that every match contains, expression, replacement): most files do not contain the text, which
# is found in far less time.
SPELLINGS = [
    # most_payload is the specification's, most_common Python's.
    ("most_", r"\bmost_(?!payload\b|common\b)\w*", "max_..."),
    ("most", r"\b(?:\w+_t|int|double|auto) (most)\b(?=[,;)]| =)", "max"),
    ("ho", r"\b(?:Who|Those who|He who)\b", "name it: the rank that ..., the process that ..."),
    ("The same", r"(?://[/!<]*|# )[^\S\n]*(The same\b)", INCOMPLETE),
    ("Whether", r"(?://[/!<]*|# |\"{3})[^\S\n]*(Whether\b)", "Returns true if ...; True if ..."),
    ("Of", r"(?://[/!<]*|# |\"{3})[^\S\n]*(Of)\b", NOUN),
    ("Those", r"(?://[/!<]*|# |\"{3})[^\S\n]*(Those)\b", NOUN),
    ("What", r"(?:///<?[^\S\n]*|\"{3})(What)\b", NOUN),
    ("That", r"///<?[^\S\n]*(That) (?:of|as|is|in)\b", NOUN),
]
# The comment that a file begins with.
HEAD = re.compile(r"(?:#!.*\n)?(?:#pragma once\n)?(?://|#) (What)\b")

# A capital that begins a word.
HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
# `is None` of Python is no sentence.
PYTHON_NONE = re.compile(r"(?<=\bis )None\b|(?<=Is)None\b")
COMMENT_MARK = re.compile(r"^[^\S\n]*(?://[/!]?<?|/?\*+|#+(?= ))", re.MULTILINE)
NO_WORD = re.compile(r"(?:[^\w`]|_)+")


# Hardly a file has any, so that all are looked for at once before each is by itself.
ANY_WORD = re.compile(" (?:" + "|".join(pattern for pattern, _ in WORDS) + ")(?= )")


def in_words(text):
    """The text as words in lower case with a blank before each and one at the end. Backticks stay, since
    the `none` of an enumeration is not a predicate."""
    spaced = HUMP.sub(r" \g<0>", COMMENT_MARK.sub("", PYTHON_NONE.sub("null", text)))
    return NO_WORD.sub(" ", f" {spaced} ").lower()


def line_at(text, at):
    """The number of the line whose words have this place in in_words(text)."""
    lines = text.split("\n")
    return bisect.bisect_right(range(1, len(lines)), at,
                               key=lambda count: len(in_words("\n".join(lines[:count]))) - 1) + 1


def findings(text):
    """Yields (line, what is found there, what to write)."""
    words = in_words(text)
    for pattern, replacement in WORDS if ANY_WORD.search(words) else []:
        for match in re.finditer(rf"(?<= )(?:{pattern})(?= )", words):
            yield line_at(text, match.start()), match.group(0), replacement
    matches = [(match, replacement) for part, pattern, replacement in SPELLINGS if part in text
               for match in re.finditer(pattern, text)]
    if head := HEAD.match(text):
        matches.append((head, INCOMPLETE))
    for match, replacement in matches:
        group = match.lastindex or 0
        yield text.count("\n", 0, match.start(group)) + 1, match.group(group), replacement


def sources(root):
    yield from (path for path in FILES if os.path.exists(os.path.join(root, path)))
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(directory, name), root)
                if SOURCE.search(path) and path not in OWN:
                    yield path


def failures_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for line, found, replacement in sorted(findings(file.read())):
            if replacement != INCOMPLETE or SOURCE.search(path):
                yield f"{path}:{line}: '{found}': {replacement}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: words.py ROOT")
    root = sys.argv[1]
    paths = sorted(sources(root)) + [path for path in documents(root) if path != HISTORY]
    failures = [failure for path in paths for failure in failures_of(root, path)]
    for failure in failures:
        print(failure)
    print(f"{len(paths)} files, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
