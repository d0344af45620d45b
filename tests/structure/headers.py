#!/usr/bin/env python3
"""Compiles the public headers the way clients may.

    headers.py [--quick] INCLUDE_DIR LIBRARY_DIR [JOBS]

For GCC and Clang, C11, C17, C++11 and C++20, and each threading mode, without a warning:
 - every header alone, included twice;
 - all of them in one translation unit and, in reverse order, in a second one, linked together with
   libgex.so: what a header defines may be defined in many translation units.
Every macro of theirs that is an integer constant can be used in #if, with the same value. Besides, the
headers that serve without a threading mode compile without one, gasnetex.h and gasnet.h
refuse a client that defines none or two, and gasnet_fwd.h defines no macro outside its namespace.

What conduit plug-ins are written against, gex/plugin/, is for C++20 and compiles alone, included
twice, without a threading mode. With --quick, headers alone with GCC in C11 and Clang in C++11 and the first mode only: what the
others refuse, they refuse in all headers together, too.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror", "-DGEX_SHOW_WARNINGS_"]
# (compiler, language, standard)
COMPILERS = [(compiler, language, standard)
             for c, cxx in [("gcc", "g++"), ("clang", "clang++")]
             for compiler, language, standards in [(c, "c", ["c11", "c17"]),
                                                   (cxx, "c++", ["c++11", "c++20"])]
             for standard in standards]
QUICK = {("gcc", "c11"), ("clang++", "c++11")}
MODES = ["GASNET_SEQ", "GASNET_PARSYNC", "GASNET_PAR"]
MODELESS = {"gasnet_fwd.h", "gasnet_portable_platform.h"}
# The tools follow gasnetex.h or serve without it, in a mode of their own.
TOOLS = ("gasnet_tools.h", "gex/tools_")
TOOLS_MODES = ["GASNETT_THREAD_SAFE", "GASNETT_THREAD_SINGLE", "GASNETT_LITE_MODE"]
PLUGINS = "gex/plugin/"
# Extensions of gasnetex.h, defined to follow it.
EXTENSIONS = {"gasnet_vis.h", "gasnet_coll.h", "gasnet_ratomic.h", "gasnet_mk.h"}


def public_headers(include):
    found = []
    for directory, _, names in os.walk(include):
        for name in names:
            if name.endswith(".h"):
                found.append(os.path.relpath(os.path.join(directory, name), include))
    return sorted(found)


class Checker:
    def __init__(self, include, library, jobs):
        self.include = include
        self.library = library
        self.failures = []
        self.count = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def run(self, what, command, text=None):
        """Runs the command, source text on its standard input; returns the printed error."""
        result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        return what, result.returncode, result.stderr

    def compile(self, compiler, language, standard, defines, text, output=None):
        command = [compiler, f"-std={standard}", *WARNINGS, "-I", self.include,
                   *(f"-D{define}" for define in defines), "-x", language, "-"]
        command += ["-c", "-o", output] if output else ["-fsyntax-only"]
        what = f"{compiler} -std={standard} {' '.join('-D' + define for define in defines)}"
        return self.run(what, command, text)

    def collect(self, tasks):
        """tasks: (name, future, whether it must succeed, text that a refusal must hold)"""
        for name, future, succeeds, refusal in tasks:
            what, status, errors = future.result()
            self.count += 1
            if succeeds and status != 0:
                self.failures.append(f"{name}: {what}\n{errors}")
            elif not succeeds and status == 0:
                self.failures.append(f"{name}: {what}: must be refused, but compiles")
            elif not succeeds and refusal not in errors:
                self.failures.append(f"{name}: {what}: refused, but not for {refusal}\n{errors}")

    def alone(self, headers, quick):
        compilers = [one for one in COMPILERS if not quick or (one[0], one[2]) in QUICK]
        modes, tools_modes = (MODES[:1], TOOLS_MODES[:1]) if quick else (MODES, TOOLS_MODES)
        tasks = []
        for header in headers:
            text = f"#include <{header}>\n" * 2 + "extern int gex_header_check_;\n"
            after = "#include <gasnetex.h>\n" + text
            tools = header.startswith(TOOLS)
            variants = [([mode], after if tools or header in EXTENSIONS else text) for mode in modes]
            variants += [([mode], text) for mode in tools_modes if tools]
            variants += [([], text)] if tools or header in MODELESS else []
            for compiler in compilers:
                for defines, source in variants:
                    future = self.pool.submit(self.compile, *compiler, defines, source)
                    tasks.append((header, future, True, ""))
        self.collect(tasks)

    def of_plugins(self, headers):
        tasks = []
        for header in headers:
            text = f"#include <{header}>\n" * 2 + "extern int gex_header_check_;\n"
            for compiler in COMPILERS:
                if compiler[2] == "c++20":
                    future = self.pool.submit(self.compile, *compiler, [], text)
                    tasks.append((header, future, True, ""))
        self.collect(tasks)

    def refused(self):
        tasks = []
        for header in ["gasnetex.h", "gasnet.h"]:
            for compiler in COMPILERS:
                for defines in [[], ["GASNET_SEQ", "GASNET_PAR"]]:
                    future = self.pool.submit(self.compile, *compiler, defines,
                                              f"#include <{header}>\n")
                    tasks.append((header, future, False, "GASNET_PAR"))
        self.collect(tasks)

    def namespace(self):
        def macros(text):
            result = subprocess.run(["gcc", "-E", "-dM", "-I", self.include, "-x", "c", "-"],
                                    input=text, capture_output=True, text=True, check=True)
            return {re.split(r"[ (]", line)[1] for line in result.stdout.splitlines()}

        self.count += 1
        foreign = sorted(name for name in macros("#include <gasnet_fwd.h>\n")
                         - macros("#include <stddef.h>\n#include <stdint.h>\n")
                         if not re.match(r"_?GEX_|_INCLUDED_GASNET_FWD_H$", name))
        if foreign:
            self.failures.append(f"gasnet_fwd.h: defines {' '.join(foreign)}, which users may own")

    def constants(self, headers):
        """An object-like macro whose value the compiler takes for an integer constant is one for the
        preprocessor too. Names that end in _ are the library's own."""
        listing = "".join(f"#include <{header}>\n" for header in headers)

        def compiled(text, *options):
            return subprocess.run(["gcc", "-std=c11", "-DGASNET_PAR", "-w", "-fmax-errors=0",
                                   "-fno-diagnostics-show-caret", "-ftrack-macro-expansion=0", "-I",
                                   self.include, *options, "-x", "c", "-"],
                                  input=text, capture_output=True, text=True, check=False)

        def wrong_lines(text):
            return {int(line) for line in
                    re.findall(r"^<stdin>:(\d+):\d+: error", compiled(text, "-fsyntax-only").stderr,
                               re.M)}

        names = sorted(set(re.findall(r"^#define (_?(?:GEX|GASNET|GASNETT|GASNETI|SIZEOF|PLATFORM)_"
                                      r"\w*[^_\W]) \S", compiled(listing, "-E", "-dM").stdout, re.M)))
        before = listing.count("\n")
        wrong = wrong_lines(listing + "".join(
            f"void gex_use_{at}(void) {{ enum {{ gex_constant = 0 * ({name}) }}; }}\n"
            for at, name in enumerate(names)))
        integers = [name for at, name in enumerate(names) if before + at + 1 not in wrong]
        self.count += len(integers)
        if len(integers) < 150 or "GEX_FLAG_IMMEDIATE" not in integers:
            self.failures.append(f"constants: only {len(integers)} of {len(names)} macros are integers")
        with tempfile.TemporaryDirectory() as work:
            program = os.path.join(work, "values")
            built = compiled(listing + "#include <stdio.h>\nint main(void) {\n" + "".join(
                f'printf("%lld\\n", (long long)({name}));\n' for name in integers) + "}\n",
                     "-o", program, "-O1", f"-L{self.library}", "-Wl,--unresolved-symbols=ignore-all")
            if built.returncode != 0:
                self.failures.append(f"constants: {built.stderr}")
                return
            values = subprocess.run([program], capture_output=True, text=True,
                                    check=True).stdout.split()
        refused = wrong_lines(listing + "".join(
            f"#if ({name}) != ({value})\n#error\n#endif\n" for name, value in zip(integers, values)))
        for at, name in enumerate(integers):
            if {before + 3 * at + 1, before + 3 * at + 2} & refused:
                self.failures.append(f"constants: {name} is not the same number in #if")

    def link(self, compiler, language, standard, mode, headers, work):
        name = os.path.join(work, f"{compiler}-{standard}-{mode}")
        listing = "".join(f"#include <{header}>\n" for header in headers)
        reverse = "".join(f"#include <{header}>\n" for header in reversed(headers))
        # gasnet_tools.h has to follow gasnetex.h whatever the order of the rest.
        texts = [listing + "int other(void);\nint main(void) { return other(); }\n",
                 "#include <gasnetex.h>\n" + reverse
                 + "int other(void);\nint other(void) { return 0; }\n"]
        objects = []
        for index, text in enumerate(texts):
            objects.append(f"{name}-{index}.o")
            result = self.compile(compiler, language, standard, [mode], text, objects[-1])
            if result[1] != 0:
                return result
        return self.run(f"{compiler} -std={standard} -D{mode}, linking two translation units",
                        [compiler, "-o", name, *objects, f"-L{self.library}", "-lgex",
                         f"-Wl,-rpath,{self.library}"])

    def together(self, headers):
        ordered = ["gasnetex.h"] + [header for header in headers if header != "gasnetex.h"]
        with tempfile.TemporaryDirectory() as work:
            self.collect([("all headers", self.pool.submit(self.link, *compiler, mode, ordered, work),
                           True, "")
                          for compiler in COMPILERS for mode in MODES])


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--quick"]
    if len(arguments) not in (2, 3):
        sys.exit("usage: headers.py [--quick] INCLUDE_DIR LIBRARY_DIR [JOBS]")
    include = arguments[0]
    checker = Checker(include, arguments[1],
                      int(arguments[2]) if len(arguments) == 3 else os.cpu_count())
    found = public_headers(include)
    if "gasnetex.h" not in found:
        sys.exit(f"{include}: no gasnetex.h")
    plugins = [header for header in found if header.startswith(PLUGINS)]
    headers = [header for header in found if header not in plugins]
    checker.of_plugins(plugins)
    checker.alone(headers, quick="--quick" in sys.argv)
    checker.refused()
    checker.namespace()
    checker.constants(["gasnetex.h"] + [header for header in headers if header != "gasnetex.h"])
    checker.together(headers)
    for failure in checker.failures:
        print(failure)
    print(f"{len(found)} headers, {checker.count} compilations, {len(checker.failures)} failures")
    sys.exit(1 if checker.failures else 0)


if __name__ == "__main__":
    main()
