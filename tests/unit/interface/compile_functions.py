#!/usr/bin/env python3
"""Checks that every function of the interface is declared with exactly its type, in C and in C++, and
that each library exports it.

    compile_functions.py INCLUDE_DIR FUNCTIONS LIBRARY...
"""

import re
import subprocess
import sys

HEADERS = ["gasnetex.h", "gasnet.h", "gasnet_vis.h", "gasnet_coll.h", "gasnet_ratomic.h",
           "gasnet_mk.h"]
MOST_ARGUMENTS = 16
TYPES = {"I32": "int32_t", "U32": "uint32_t", "I64": "int64_t", "U64": "uint64_t", "FLT": "float",
         "DBL": "double"}
COLUMNS = [("gcc", "c", "c11"), ("clang", "c", "c17"), ("g++", "c++", "c++11"),
           ("clang++", "c++", "c++20")]
# Equal types, and nothing that converts into one another.
SAME = {"c": "#define IS(function, type) _Static_assert(_Generic(&function, type: 1, default: 0), "
             "#function)\n",
        "c++": "#include <type_traits>\n"
               "#define IS(function, ...) static_assert("
               "std::is_same<decltype(&function), __VA_ARGS__>::value, #function)\n"}


def type_of(parameter):
    """A parameter's type: what is left of its declaration without the name."""
    left, array = re.fullmatch(r"(.*?)\s*\w+\s*(\[\])?", parameter.strip()).groups()
    return left + ("*" if array else "")


def types_of(parameters):
    return [] if parameters == "void" else [type_of(each) for each in parameters.split(",")]


def read(path):
    """Lists (name, result, types of parameters), and the names of macros that count arguments."""
    functions, macros = [], []
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for name, result, parameters in rows:
        if "[M]" in name:
            macros.append(name.replace("[M]", ""))
            for count in range(MOST_ARGUMENTS + 1):
                functions.append((name.replace("[M]", str(count)), result,
                                  types_of(parameters) + ["gex_AM_Arg_t"] * count))
        elif "[DATATYPE]" in name:
            for suffix, spelled in TYPES.items():
                functions.append((name.replace("[DATATYPE]", suffix), result,
                                  types_of(parameters.replace("[TYPE]", spelled))))
        elif "{NB,NBI,Blocking}" in name:
            for form, form_result in (("NB", "gex_Event_t"), ("NBI", "int"), ("Blocking", "int")):
                functions.append((name.replace("{NB,NBI,Blocking}", form), form_result,
                                  types_of(parameters)))
        else:
            functions.append((name, result, types_of(parameters)))
    return functions, macros


def source(language, functions, macros):
    lines = [f"#include <{header}>\n" for header in HEADERS] + [SAME[language]]
    for name, result, types in functions:
        lines.append(f"IS({name}, {result} (*)({', '.join(types) or 'void'}));\n")
    for name in macros:
        lines.append(f"#ifndef {name}\n#error {name} counts its arguments\n#endif\n")
    return "".join(lines)


def exported_by(library):
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", library],
                             capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listing.splitlines()}


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: compile_functions.py INCLUDE_DIR FUNCTIONS LIBRARY...")
    include, table, *libraries = sys.argv[1:]
    functions, macros = read(table)
    failures = []
    for compiler, language, standard in COLUMNS:
        result = subprocess.run(
            [compiler, f"-std={standard}", "-DGASNET_PAR", "-I", include, "-x", language,
             "-fsyntax-only", "-"],
            input=source(language, functions, macros), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            failures.append(f"{compiler} -std={standard}:\n{result.stderr}")
    for library in libraries:
        missing = sorted({name for name, _, _ in functions} - exported_by(library))
        if missing:
            failures.append(f"{library} does not export {' '.join(missing)}")
    for failure in failures:
        print(failure)
    print(f"{len(functions)} functions, {len(macros)} macros, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
