#!/usr/bin/env python3
"""Installs a build and uses the tree in every way that clients do, then moves it and does so again.

    clients.py BUILD WORK [all]

Some networks and every mode are used in each way; with `all`, every network in every mode, also on
hosts and as UPC++ is installed, and what finds its place by what it is called, by make or by CMake is
tried once more after the move. The moved tree is used through make and pkg-config, which find it; what
is read as text names the place where it was installed.
"""

import os
import shutil
import sys

import bindings
import documents
import headers
import man_pages
import probes
import tour
import upcxx_tools
from tree import MODES, Tree, check, main, run

# Each network and mode once in each of these, together in every language.
STANDARDS = {"seq": "c11", "parsync": "c++11", "par": "c++20"}


def names_no_build(tree, build):
    """Nothing in the tree leads back to where it was built."""
    for folder, _, files in os.walk(tree.prefix):
        for name in files:
            if name.endswith((".h", ".mak", ".pc", ".cmake", ".status", "Makefile")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read().replace(tree.prefix, "")
                    check(build not in text, f"{os.path.join(folder, name)} names {build}")


def staged(build, work):
    """DESTDIR is where files are put, the prefix is what they contain."""
    run(["cmake", "--install", build, "--prefix", "/opt/gex"], DESTDIR=work)
    with open(os.path.join(work, "opt/gex/include/smp-conduit/smp-par.mak"), encoding="utf-8") as f:
        check("GASNET_PREFIX = /opt/gex\n" in f.read(), "GASNET_PREFIX below DESTDIR")
    shutil.rmtree(work)


def move(tree, moved):
    os.makedirs(os.path.dirname(moved.prefix))
    os.rename(tree.prefix, moved.prefix)


def labels(tree, everything, first):
    """Networks and modes: all pairs, or three networks in one mode each, beginning with that one."""
    few = [conduit for conduit in ("smp", "emu", "ofi") if conduit in tree.conduits]
    for at, conduit in enumerate(tree.conduits if everything else few):
        for mode in MODES if everything else [MODES[(first + at) % len(MODES)]]:
            yield conduit, mode


def built_everywhere(tree, everything):
    steps = [(headers.silent, tree), (bindings.every_function, tree),
             (bindings.generators, tree, everything), (bindings.without_bodies, tree),
             (bindings.examples, tree), (probes.every_setting, tree, True), (probes.compilers, tree),
             (probes.names_of_the_reference, tree), (probes.blanks, tree),
             (probes.upcxx_folders, tree), (probes.links, tree),
             (upcxx_tools.wrapper, tree), (upcxx_tools.settings, tree),
             (probes.plug_ins, tree), (probes.tools_tests, tree),
             (probes.tools_beside_gasnet, tree),
             (probes.cmake, tree, list(labels(tree, everything, 2))),
             (probes.realm_runtime_mk, tree), (probes.osss, tree), (probes.caffeine, tree),
             (probes.bcl, tree), (probes.pkg_config, tree, "smp", "par", "c11")]
    steps += [(probes.gasnet_tests, tree, *label) for label in labels(tree, everything, 0)]
    steps += [(probes.pkg_config, tree, conduit, mode, STANDARDS[mode])
              for conduit, mode in labels(tree, everything, 1)]
    steps += [(probes.by_hand, tree), (probes.linkers, tree), (probes.checking_library, tree),
              (probes.exit_flushes, tree), (probes.static_program, tree), (probes.launchers, tree)]
    return steps + [(probes.launchers_on_hosts, tree)] * everything


def after_the_move(tree, everything):
    steps = [(probes.every_setting, tree, everything), (probes.plug_ins, tree),
             (probes.gasnet_tests, tree, "emu", "parsync"),
             (probes.pkg_config, tree, "smp", "par", "c11"), (probes.launchers, tree)]
    if everything:
        steps += [(probes.cmake, tree, list(labels(tree, everything, 2))), (probes.caffeine, tree),
                  (probes.upcxx, tree, "upcxx-installed", everything), (probes.compilers, tree),
                  (probes.links, tree), (upcxx_tools.settings, tree),
                  (probes.tools_tests, tree), (probes.osss, tree),
                  (probes.pkg_config, tree, "emu", "seq", "c++20")]
    return steps


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["all"]):
        sys.exit("usage: clients.py BUILD WORK [all]")
    BUILD, WORK = (os.path.abspath(path) for path in sys.argv[1:3])
    EVERYTHING = len(sys.argv) == 4
    shutil.rmtree(WORK, ignore_errors=True)
    FIRST = Tree.install(BUILD, os.path.join(WORK, "first"), os.path.join(WORK, "built"))

    MOVED = FIRST.at(os.path.join(WORK, "moved", "elsewhere"), os.path.join(WORK, "built-moved"))
    main([(names_no_build, FIRST, BUILD), (staged, BUILD, os.path.join(WORK, "stage")),
          (man_pages.man_pages, FIRST), (man_pages.interface, FIRST),
          (man_pages.examples_compile, FIRST), (tour.tour, FIRST), (documents.documents, FIRST)]
         + built_everywhere(FIRST, EVERYTHING)
         + [(probes.chapel, FIRST), (probes.devastator, FIRST), (probes.omni, FIRST)]
         + [(probes.upcxx, FIRST, "upcxx-installed", True)] * EVERYTHING + [(move, FIRST, MOVED)]
         + after_the_move(MOVED, EVERYTHING),
         "clients of the installed tree")
    # main has ended the process unless every step succeeded.
    shutil.rmtree(WORK)
