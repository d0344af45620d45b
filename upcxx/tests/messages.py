#!/usr/bin/env python3
"""What a compiler prints of programs that are wrong: in its first error, one sentence on the mistake.

    messages.py COMPILER INCLUDE_FOLDER
"""

import re
import subprocess
import sys

MISTAKES = [
    ("std::unique_ptr<int> p; upcxx::rpc(0, [](std::unique_ptr<int>) {}, p);",
     "an argument of the rpc cannot be sent"),
    ("std::string s; upcxx::rpc_ff(0, [s] {});", "the function of the rpc cannot be sent"),
    ("upcxx::rpc_ff(0, [](const char*) {}, \"text\");",
     "a string literal, or another array of C, is no argument of an rpc"),
    ("int x = 0; upcxx::rpc_ff(0, [](int&) {}, x);",
     "the function cannot be called with these arguments as they arrive"),
    ("upcxx::rpc(0, upcxx::source_cx::as_future(), [] {});",
     "an rpc needs a completion of the operation"),
    ("upcxx::rpc_ff(0, upcxx::operation_cx::as_future(), [] {});",
     "an rpc_ff has a completion of the source only"),
    ("upcxx::global_ptr<std::string> g; upcxx::rput(std::string(), g);",
     "what is put or got is copied as bytes"),
    ("upcxx::global_ptr<int> g; upcxx::rput(1, g, upcxx::source_cx::as_future());",
     "a value that is passed by itself has no source completion"),
    ("upcxx::atomic_domain<short> d({upcxx::atomic_op::load});",
     "an atomic_domain is of float, double, or integers of 32 or 64 bits"),
    ("std::string s; upcxx::broadcast(s, 0);",
     "experimental::broadcast_nontrivial takes others"),
]


def first_error(compiler, include, statements):
    text = ("#include <memory>\n#include <string>\n#include <upcxx/upcxx.hpp>\n"
            f"void f() {{ {statements} }}\n")
    result = subprocess.run(
        [compiler, "-std=c++17", "-fsyntax-only", f"-I{include}", "-x", "c++", "-"], input=text,
        text=True, capture_output=True, check=False)
    if result.returncode == 0:
        return "nothing: it compiles"
    found = re.search(r"error: (.*)", result.stderr)
    return found.group(1) if found else result.stderr


def main():
    compiler, include = sys.argv[1:]
    failures = 0
    for statements, expected in MISTAKES:
        printed = first_error(compiler, include, statements)
        if expected not in printed:
            failures += 1
            print(f"{statements}\n  expected: {expected}\n  printed: {printed}")
    print(f"{len(MISTAKES)} mistakes, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
