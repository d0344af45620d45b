#!/usr/bin/env python3
"""Compiles names.c, which uses every name of GASNet-1, the way clients may, and runs it as a job of
one rank.

    compile_names.py INCLUDE_DIR LIBRARY_DIR SOURCE [--product]
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from name_compiler import NameCompiler

MODES = [["GASNET_SEQ"], ["GASNET_PARSYNC=1"], ["GASNET_PAR"],
         # As build systems and sources of clients have it.
         ["GASNET_PAR=", "GASNETT_THREAD_SAFE=1", "GASNET_CONDUIT_SMP=1"],
         ["GASNET_SEQ", "NAMES_AFTER_GASNETEX", "GASNET_DEBUG"]]
REFUSED = [([], "GASNET_PAR"), (["GASNET_SEQ", "GASNET_PAR"], "GASNET_PAR")]


def main():
    product = sys.argv[4:] == ["--product"]
    if len(sys.argv) != 4 + product:
        sys.exit("usage: compile_names.py INCLUDE_DIR LIBRARY_DIR SOURCE [--product]")
    include, library, source = sys.argv[1:4]
    names = NameCompiler(include, library, product)
    names.accepted(source, MODES)
    names.refused(source, REFUSED)
    names.finish()


if __name__ == "__main__":
    main()
