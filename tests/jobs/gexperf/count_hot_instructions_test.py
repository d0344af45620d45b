#!/usr/bin/env python3
"""Checks that count-hot-instructions finds what it is there to find.

    count_hot_instructions_test.py ROOT COMPILER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    tool = root / "tools/count-hot-instructions"

    def check(document, include):
        done = subprocess.run(
            [tool, "--check", "--compiler", compiler, "--document", document, "--include", include],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        print(done.stdout, end="")
        if done.returncode == 77:
            sys.exit(77)
        return done

    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder, "hot-paths.md")
        include = pathlib.Path(folder, "include")
        original = (root / "docs/hot-paths.md").read_text()
        shutil.copytree(root / "include", include)

        row = r"(\| `gex_RMA_PutBlocking` \| )(\d+)"
        document.write_text(re.sub(row, lambda m: f"{m[1]}{int(m[2]) + 1}", original))
        done = check(document, include)
        if done.returncode != 1 or "-| `gex_RMA_PutBlocking`" not in done.stdout:
            sys.exit("a count that is not true was not found")

        document.write_text(original)
        header = include / "gex/hsl.h"
        header.write_text(re.sub(r"(gex_HSL_Lock\(gex_HSL_t ?\* ?hsl\) \{)",
                                 r"\1 ((volatile gex_HSL_t *)hsl)->owner_ = 1;",
                                 header.read_text()))
        done = check(document, include)
        if done.returncode != 1 or "+| `gex_HSL_Lock`" not in done.stdout:
            sys.exit("an instruction more was not found")

        header.write_text(header.read_text() + "GEX_INLINE_ int gex_HSL_New(void) { return 0; }\n")
        done = check(document, include)
        if done.returncode != 1 or "missing ['gex_HSL_New']" not in done.stdout:
            sys.exit("an inline function that is not counted was not found")


main()
