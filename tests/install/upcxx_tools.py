"""Programs that use UPC++: compiled and started by the tools that are installed for it."""

import os

from tree import check, run

PROGRAM = """#include <upcxx/upcxx.hpp>
#include <cstdio>
int main() {
  upcxx::init();
  const int sum = upcxx::reduce_all(upcxx::rank_me() + 1, upcxx::op_fast_add).wait();
  if (upcxx::rank_me() == 0) std::printf("sum %d, heap %ld\\n", sum,
                                         long(upcxx::shared_segment_size()));
  upcxx::finalize();
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.12)
project(hello LANGUAGES CXX)
find_package(UPCXX 2022.3 REQUIRED)
add_executable(hello hello.cc)
target_link_libraries(hello ${UPCXX_LIBRARIES})
"""


def folder(tree):
    place = tree.output("upcxx-programs")
    os.makedirs(place, exist_ok=True)
    for name, text in ("hello.cc", PROGRAM), ("CMakeLists.txt", PROJECT):
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    return place


def expect_sum(tree, program, *options):
    printed = run([tree.path("bin", "upcxx-run"), "-n", "2", "-shared-heap", "16M", *options, program])
    check(printed == "sum 3, heap 16777216\n", f"{program} prints {printed}")


def wrapper(tree):
    """One command that compiles and links, for a network and threads; upcxx-run starts it there."""
    place = folder(tree)
    program = os.path.join(place, "hello")
    run([tree.path("bin", "upcxx"), "-network=emu", "-threadmode=par", "-std=c++11", "-O0",
         "hello.cc", "-o", program], cwd=place)
    check(run([tree.path("bin", "upcxx-run"), "-info", program]) == "UPCXXNetwork: emu\n", "info")
    shown = run([tree.path("bin", "upcxx-run"), "-show", "-n", "2", program])
    check("gexrun -n 2 --conduit emu" in shown, shown)
    expect_sum(tree, program)
    expect_sum(tree, program, "-network", "smp")


def settings(tree):
    """upcxx-meta, as makefiles use it; CMake's package."""
    place = folder(tree)
    meta = tree.path("bin", "upcxx-meta")
    program = os.path.join(place, "by-meta")
    run(["sh", "-c", f"$({meta} CXX) $({meta} PPFLAGS) hello.cc -o {program} $({meta} LIBFLAGS)"],
        cwd=place, UPCXX_CODEMODE="debug")
    expect_sum(tree, program)
    build = os.path.join(place, "build")
    run(["cmake", "-S", place, "-B", build, f"-DCMAKE_PREFIX_PATH={tree.prefix}"],
        UPCXX_THREADMODE="par")
    run(["cmake", "--build", build])
    expect_sum(tree, os.path.join(build, "hello"))
