#!/usr/bin/env python3
"""Reads sources and fails on a name of libfabric's that later versions deprecate.

    deprecated.py ROOT

Their headers warn of each use, which ends a build whose warnings are errors. Comments and string
literals may have the names.
"""

import os
import re
import sys

FOLDERS = ["bench", "cmd", "src", "tests"]
SOURCE = re.compile(r"\.(h|cc|c|inc)$")
# By what each is replaced, since version 2.0 or before.
NAMES = {
    "FI_MR_BASIC": "its bits, FI_MR_VIRT_ADDR, FI_MR_ALLOCATED and FI_MR_PROV_KEY",
    "FI_MR_SCALABLE": "no bit",
    "FI_MR_UNSPEC": "0",
    "FI_LOCAL_MR": "FI_MR_LOCAL",
    "FI_REG_MR": "nothing",
    "FI_ORDER_NONE": "0",
    "FI_ORDER_STRICT": "the orders that are needed",
    "FI_ORDER_DATA": "the orders that are needed",
    "FI_WAIT_SET": "FI_WAIT_FD",
    "FI_WAIT_MUTEX_COND": "FI_WAIT_FD",
    "fi_wait_open": "FI_WAIT_FD and fi_trywait",
    "fi_poll_open": "a queue for each",
}
NAME = re.compile(r"\b(?:" + "|".join(NAMES) + r")\b")
# What may have any word: comments and literals.
ASIDE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


def failures_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = ASIDE.sub(lambda aside: re.sub(r"[^\n]", " ", aside[0]), file.read())
    for found in NAME.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield f"{path}:{line}: {found[0]} is deprecated; instead: {NAMES[found[0]]}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: deprecated.py ROOT")
    root = sys.argv[1]
    failures = []
    count = 0
    for top in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(filter(SOURCE.search, names)):
                count += 1
                failures += failures_of(root, os.path.relpath(os.path.join(directory, name), root))
    for failure in failures:
        print(failure)
    print(f"{count} files, {len(failures)} failures")
    sys.exit(1 if failures or not count else 0)


if __name__ == "__main__":
    main()
