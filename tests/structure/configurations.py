#!/usr/bin/env python3
"""libgex configured as other projects, packagers and cross builds do.

    configurations.py SOURCES WORK [--build]

 - as a part of a project, by add_subdirectory and by FetchContent: the targets have the installed
   package's names, and no test, benchmark, application or target of a general name comes along;
 - with -flto and with CMake's interprocedural optimisation: what an archive is made of is still
   machine code;
 - for another processor: the archives are made by its binutils.

With --build the small archive, which is made as the other one, is built in each of these and linked;
without, the commands are looked at.
"""

import json
import os
import re
import shutil
import subprocess
import sys

PROJECT = """cmake_minimum_required(VERSION 3.22)
project(client C CXX)
{part}
add_executable(client client.c)
target_compile_definitions(client PRIVATE GASNET_SEQ)
target_link_libraries(client PRIVATE {target})
add_executable(tools tools.c)
target_link_libraries(tools PRIVATE gex_tools_static)
target_compile_definitions(tools PRIVATE GASNETT_THREAD_SAFE)
"""
BY_FOLDER = "add_subdirectory({sources} gex)"
BY_CONTENT = """include(FetchContent)
FetchContent_Declare(gex SOURCE_DIR {sources})
FetchContent_MakeAvailable(gex)"""
TRIPLET = "aarch64-linux-gnu"


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


def run(*command, **variables):
    result = subprocess.run(command, capture_output=True, text=True, check=False,
                            env={**os.environ, **variables})
    check(result.returncode == 0, f"{' '.join(command)}:\n{result.stdout}{result.stderr}"[-3000:])
    return result.stdout


def commands(build, room):
    """The compile commands of a room."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        found = [entry["command"] for entry in json.load(file)
                 if f"/gex_{room}_objects.dir/" in entry["command"]]
    check(found, f"{build}: nothing of src/{room} is compiled")
    return found


def check_machine_code(build):
    for room in ("base", "am"):
        for command in commands(build, room):
            flags = re.findall(r" (-f(?:no-)?lto\S*)", command)
            check(flags and flags[-1] == "-fno-lto", f"compiled with {flags}: {command}")


def check_part(build, text):
    check("GTest" not in text, f"looks for what a part does not need: {text}")
    targets = run("ninja", "-C", build, "-t", "targets", "all")
    foreign = re.findall(r"^(?:gex/)?(?:tests|bench|apps|examples)/|^(?:installed|man_pages|core_tests|"
                         r"gexperf): ", targets, re.M)
    check(not foreign, f"a part brings {sorted(set(foreign))}")
    check(re.search(r"^gexrun: ", targets, re.M), "no gexrun")


def as_part(sources, work, name, part, target, definitions, build, **variables):
    project = os.path.join(work, name)
    os.makedirs(project)
    examples, clients = os.path.join(sources, "examples"), os.path.join(sources, "tests", "install")
    shutil.copy(os.path.join(examples, "hello.c"), os.path.join(project, "client.c"))
    shutil.copy(os.path.join(clients, "tools_client.c"), os.path.join(project, "tools.c"))
    with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(PROJECT.format(part=part.format(sources=sources), target=target))
    # CMake takes a name with :: for a target's; FetchContent cannot do with one itself.
    folder = os.path.join(project, "build" if part is BY_CONTENT else "build-a::b")
    text = run("cmake", "-G", "Ninja", "-S", project, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
               *definitions, **variables)
    check_part(folder, text)
    check_machine_code(folder)
    if build:
        run("cmake", "--build", folder, "--target", "tools")
        check(run(os.path.join(folder, "tools")) == "tools right\n", f"{folder}: tools")


def cross(sources, work, build):
    if shutil.which(f"{TRIPLET}-g++") is None:
        print(f"NOT TRIED: a cross build: there is no {TRIPLET}-g++ here")
        return
    folder = os.path.join(work, "cross")
    run("cmake", "-G", "Ninja", "-S", sources, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
        "-DGEX_BUILD_TESTS=OFF", "-DGEX_BUILD_APPS=OFF", "-DGEX_BUILD_UPCXX=OFF", "-DGEX_DEBUG_LIBRARY=OFF",
        "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        f"-DCMAKE_C_COMPILER={TRIPLET}-gcc", f"-DCMAKE_CXX_COMPILER={TRIPLET}-g++")
    with open(os.path.join(folder, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = file.read()
    for variable in ("GEX_LD", "GEX_OBJCOPY"):
        tool = re.search(rf"^{variable}:\w+=(.*)$", cache, re.M).group(1)
        check("aarch64" in run(tool, "--help"), f"{tool} is no tool of the target's")
    # No library of this machine can be linked.
    targets = run("ninja", "-C", folder, "-t", "targets", "all")
    check("libgex-ofi.so" not in targets, "a plug-in is linked with a library of this machine")
    if build:
        run("cmake", "--build", folder, "--target", "gex_tools_archive")
        header = run(f"{TRIPLET}-objdump", "-f", os.path.join(folder, "lib", "libgex_tools.a"))
        check("elf64-littleaarch64" in header, header)


def main():
    sources, work = (os.path.abspath(path) for path in sys.argv[1:3])
    build = sys.argv[3:] == ["--build"]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    failed = 0
    for step in (
            lambda: as_part(sources, work, "folder", BY_FOLDER, "gex::static",
                            ["-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "-DCMAKE_UNITY_BUILD=ON"], build),
            lambda: as_part(sources, work, "content", BY_CONTENT, "gex::gex", [], build,
                            CFLAGS="-flto=auto -ffat-lto-objects",
                            CXXFLAGS="-flto=auto -ffat-lto-objects"),
            lambda: cross(sources, work, build)):
        try:
            step()
        except Failure as failure:
            failed += 1
            print(failure)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
