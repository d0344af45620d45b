"""The installed headers under the warnings that clients ask for."""

import concurrent.futures
import os
import re
import shutil
import subprocess

from tree import check

STRICT = """-Wall -Wextra -pedantic -Wundef -Wshadow -Wconversion -Wsign-conversion -Wcast-qual
-Wcast-align -Wredundant-decls -Wvla -Wformat=2 -Wfloat-conversion -Wnull-dereference -Wunused-macros
-Wmissing-declarations -Wdouble-promotion -Werror""".split()
STRICT_C = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition",
            "-Wdeclaration-after-statement", "-Wbad-function-cast", "-Wc++-compat"]
STRICT_CXX = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant"]
GNU_CXX = ["-Wuseless-cast", "-Wcast-align=strict", "-Wextra-semi", "-Wsuggest-attribute=noreturn"]
# Compilers without a number are the system's; newer ones are tried where they are installed.
C_STANDARDS = ("c11", "gnu17", "c2x")
CXX_STANDARDS = ("c++11", "c++20", "c++2b")


def compilers():
    """Family, C compiler and C++ compiler; of two names of one compiler the first."""
    seen = set()
    for family in ("gcc", "clang"):
        for suffix in ("", *(f"-{number}" for number in range(13, 30))):
            cxx = {"gcc": "g++", "clang": "clang++"}[family]
            found = shutil.which(family + suffix)
            if found and shutil.which(cxx + suffix) and os.path.realpath(found) not in seen:
                seen.add(os.path.realpath(found))
                yield family, family + suffix, cxx + suffix


def compile_silently(command, text):
    result = subprocess.run([*command, "-fsyntax-only", "-"], input=text, capture_output=True,
                            text=True, check=False)
    if result.returncode == 0 and not result.stderr:
        return None
    return f"{' '.join(command)}:\n{result.stderr[:3000]}"


def silent(tree):
    """Whatever is asked for, no compiler warns in the headers, nor of what their macros make in a
    client; in C a handler may stand in a table without a cast."""
    include = tree.path("include")
    headers = [name for name in sorted(os.listdir(include)) if name.endswith(".h")]
    check(len(headers) > 8, f"{include}: {headers}")
    alone = "".join(f"#include <{name}>\n" for name in ["gasnetex.h", *headers])
    alone += "#include <gex/functions.h>\nextern int declared;\n"
    with open(tree.source("strict_client.c"), encoding="utf-8") as file:
        client = file.read()
    jobs = []
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def submit(words, text):
        jobs.append(pool.submit(compile_silently, [*words, "-DGASNET_PAR", f"-I{include}"], text))

    def optimised(family, standard):
        """Without it Clang reads declarations in place of inline functions."""
        return "-O0" if family == "clang" and standard in ("gnu17", "c++20") else "-O1"

    found = list(compilers())
    for family, cc, cxx in found:
        everything = ["-Weverything"] if family == "clang" else []
        for standard in C_STANDARDS:
            strict = [cc, f"-std={standard}", *STRICT, *STRICT_C, optimised(family, standard)]
            submit([*strict, *everything, "-Wno-declaration-after-statement", "-x", "c"], alone)
            submit([*strict, "-Wno-c++-compat", "-Wno-bad-function-cast", "-x", "c"], client)
        submit([cc, "-std=gnu2x", "-Wall", "-Wextra", "-Werror", "-DUNCAST", "-x", "c"], client)
        for standard in CXX_STANDARDS:
            strict = [cxx, f"-std={standard}", *STRICT, *STRICT_CXX, optimised(family, standard),
                      *(GNU_CXX if family == "gcc" else [])]
            submit([*strict, *everything, *(["-Wno-c++98-compat-pedantic"] * bool(everything)),
                    "-x", "c++"], alone)
            # The client's casts of handlers are the client's.
            submit([*strict, "-Wno-old-style-cast", "-x", "c++"], client)
    failures = [failure for failure in (job.result() for job in jobs) if failure]
    check(not failures, f"{len(failures)} of {len(jobs)} compilations are not silent; the first: "
                        f"{failures[0] if failures else ''}")
    check(re.search("system_header", open(os.path.join(include, "gasnetex.h"),
                                          encoding="utf-8").read()), "gasnetex.h")
    print(f"headers: {len(jobs)} compilations by {', '.join(cc for _, cc, _ in found)} are silent")
