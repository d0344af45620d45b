#!/usr/bin/env python3
"""The messages of a compiler for programs that are wrong: in its first error, one sentence on the mistake;
and of a right one with the options that users compile with: nothing.

    messages.py COMPILER INCLUDE_FOLDER
"""

import re
import subprocess
import sys

MISTAKES = [
    ("std::unique_ptr<int> p; upcxx::rpc(0, [](std::unique_ptr<int>) {}, p);",
     "an argument of the rpc cannot be sent"),
    ("std::vector<std::unique_ptr<int>> v; upcxx::rpc_ff(0, [](auto&&) {}, v);",
     "an argument of the rpc cannot be sent"),
    ("std::array<char, 600> a; upcxx::rpc_ff(0, [](const std::array<char, 600>&) {}, a);",
     "an argument of the rpc is larger than UPCXX_MAX_RPC_ARG_SIZE: pass a container"),
    ("std::array<char, 600> a; upcxx::broadcast(a, 0);",
     "the value is larger than UPCXX_MAX_VALUE_SIZE: pass its address and count"),
    ("upcxx::global_ptr<int> g; upcxx::rget(g, upcxx::remote_cx::as_rpc([] {}));",
     "this operation has an operation completion, and neither a source completion nor"),
    ("std::string s; upcxx::detail::Reader(nullptr).read_into<std::string>(&s);",
     "the object there would not be destroyed: read_overwrite does that"),
    ("std::string s; upcxx::rpc_ff(0, [s] {});", "the function of the rpc cannot be sent"),
    ("upcxx::rpc_ff(0, [](const char*) {}, \"text\");",
     "a string literal, or another array of C, is no argument of an rpc"),
    ("upcxx::remote_cx::as_rpc([](const char*) {}, \"text\");",
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

RIGHT = """
  auto number = upcxx::new_<int>(3);
  upcxx::rpc_ff(0, [](upcxx::view<int> in) { (void)in.at(0); },
                upcxx::make_view(std::vector<int>{1}));
  upcxx::rpc(0, [](const std::string& in) { return in; }, std::string("text")).wait();
  upcxx::experimental::rpc_ff_immediate(0, [] {});
  upcxx::rput(1, number, upcxx::remote_cx::as_rpc([](int) {}, 2));
  upcxx::when_all(upcxx::rget(number), upcxx::barrier_async()).then([](int) {}).wait();
  upcxx::delete_(number);
"""
OPTIONS = [
    ["-std=c++17", "-fno-exceptions", "-fno-rtti"],
    ["-std=c++20", "-fno-exceptions", "-DUPCXX_CODEMODE=1"],
    ["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast",
     "-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Wextra-semi"],
]


def compile_statements(compiler, include, options, statements):
    text = ("#include <memory>\n#include <string>\n#include <upcxx/upcxx.hpp>\n"
            f"void f();\nvoid f() {{ {statements} }}\n")
    return subprocess.run(
        [compiler, "-fsyntax-only", *options, f"-I{include}", "-x", "c++", "-"], input=text,
        text=True, capture_output=True, check=False)


def first_error(compiler, include, statements):
    result = compile_statements(compiler, include, ["-std=c++17"], statements)
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
    for options in OPTIONS:
        result = compile_statements(compiler, include, options, RIGHT)
        if result.returncode != 0 or result.stderr:
            failures += 1
            print(f"{' '.join(options)}: {result.stderr}")
    print(f"{len(MISTAKES)} mistakes, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
