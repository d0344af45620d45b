#!/usr/bin/env python3
"""Compiles and runs names.c the way clients may, and checks the macros that clients copy.

    compile_names.py INCLUDE_DIR LIBRARY_DIR SOURCE [--product]

For GCC and Clang, C11, C17, C++11 and C++20, and each mode of the tools, alone and after gasnetex.h,
without a warning. Sources that choose contradicting modes are refused with the reason. The macros
whose text clients copy into headers of their own must compile without ours. The platform's names are
ours even where mpi.h has defined some of them before.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from name_compiler import COMPILERS, NameCompiler, run

MODES = [[], ["GASNETT_THREAD_SAFE"], ["GASNETT_THREAD_SAFE=1"], ["GASNETT_THREAD_SINGLE"],
         ["GASNETT_THREAD_SINGLE", "GASNETT_USE_TRUE_MUTEXES=1"], ["GASNETT_LITE_MODE"],
         ["GASNETT_LITE_MODE", "GASNET_DEBUG"],
         ["TOOLS_AFTER_GASNETEX", "GASNET_SEQ"], ["TOOLS_AFTER_GASNETEX", "GASNET_PARSYNC"],
         ["TOOLS_AFTER_GASNETEX", "GASNET_PAR", "GASNETT_THREAD_SAFE=1"],
         ["TOOLS_AFTER_GASNETEX", "GASNET_PAR", "GASNET_DEBUG"]]
REFUSED = [(["GASNET_SEQ"], "include gasnetex.h before gasnet_tools.h"),
           (["GASNET_PAR"], "include gasnetex.h before gasnet_tools.h"),
           (["GASNETT_THREAD_SAFE", "GASNETT_THREAD_SINGLE"], "are both defined"),
           (["TOOLS_AFTER_GASNETEX", "GASNET_PAR", "GASNETT_THREAD_SINGLE"], "contradicts")]

COPIED = """#include <gasnet_tools.h>
---
GASNETT_NEVER_INLINE(never, static int never(int x)) { return x; }
void leaves(int x) GASNETT_NORETURN;
GASNETT_PURE int pure(const int *x);
GASNETT_CONST int constant(int x);
GASNETT_HOT int hot(int x);
GASNETT_COLD int cold(int x);
int likely(int x);
int likely(int x) {
  if (GASNETT_PREDICT_TRUE(x)) return never(x);
  if (GASNETT_PREDICT_FALSE(!x)) gasnett_spinloop_hint();
  gasneti_builtin_unreachable();
}
"""

# What Open MPI's mpi.h leaves behind, which takes every compiler for GNU.
PLATFORM = """#define PLATFORM_COMPILER_GNU 1
#define PLATFORM_COMPILER_FAMILYID 77
#define PLATFORM_COMPILER_FAMILYNAME WRONG
#define PLATFORM_COMPILER_VERSION 0
#define PLATFORM_COMPILER_VERSION_STR 0
#define PLATFORM_COMPILER_VERSION_INT(maj,min,pat) (((maj) << 16) | ((min) << 8) | (pat))
#include <gasnet_portable_platform.h>
#include <gasnet_tools.h>
#if defined(__clang__) ? !PLATFORM_COMPILER_CLANG || PLATFORM_COMPILER_GNU \\
                       : !PLATFORM_COMPILER_GNU || PLATFORM_COMPILER_CLANG
#error "family"
#endif
#if defined(__cplusplus) ? !PLATFORM_COMPILER_GNU_CXX && !PLATFORM_COMPILER_CLANG_CXX \\
                         : !PLATFORM_COMPILER_GNU_C && !PLATFORM_COMPILER_CLANG_C
#error "language"
#endif
#if PLATFORM_COMPILER_VERSION_LT(4,0,0) || !PLATFORM_COMPILER_VERSION_GE(4,0,0) || \\
    !PLATFORM_COMPILER_VERSION_GT(4,0,0) || PLATFORM_COMPILER_VERSION_LE(4,0,0) || \\
    PLATFORM_COMPILER_VERSION_EQ(4,0,0)
#error "version"
#endif
#if !PLATFORM_OS_LINUX || !PLATFORM_ARCH_64 || PLATFORM_ARCH_32 || PLATFORM_ARCH_UNKNOWN || \\
    PLATFORM_ARCH_LITTLE_ENDIAN + PLATFORM_ARCH_BIG_ENDIAN != 1
#error "system"
#endif
extern const char text[];
const char text[] = PLATFORM_COMPILER_IDSTR " " PLATFORM_COMPILER_VERSION_STR " "
    _STRINGIFY(PLATFORM_COMPILER_FAMILYNAME) " " _STRINGIFY(_CONCAT(PLATFORM_OS_FAMILYNAME, 1));
"""


def main():
    product = sys.argv[4:] == ["--product"]
    if len(sys.argv) != 4 + product:
        sys.exit("usage: compile_names.py INCLUDE_DIR LIBRARY_DIR SOURCE [--product]")
    include, library, source = sys.argv[1:4]
    names = NameCompiler(include, library, product)
    names.accepted(source, MODES)
    names.refused(source, REFUSED)
    for column in COMPILERS:
        base = names.base(*column)
        names.count += 2
        result = run([*base, "-fsyntax-only", "-"], PLATFORM)
        if result.returncode != 0:
            names.fail(f"{column}: platform", result)
        expanded = run([*base, "-E", "-P", "-"], COPIED)
        copied = run([*base, "-fsyntax-only", "-"], expanded.stdout.split("---")[-1])
        if expanded.returncode != 0 or copied.returncode != 0:
            names.fail(f"{column}: copied macros", expanded if expanded.returncode else copied)
    names.finish()


if __name__ == "__main__":
    main()
