#!/usr/bin/env python3
"""A new network is one new folder: makes one in a copy of the tree, and shows that nothing else has to
be changed for it to be built, tested, documented, labelled and run.

    new_conduit.py [--whole] SOURCE BUILD WORK

SOURCE is the tree, BUILD where it is built, WORK a folder for the copy, which is removed before and
after. The network is examples/conduit under another name, with a variable of its own. By itself the
script configures the copy, builds the plug-in and runs a program of BUILD on two ranks over it. With
--whole it builds the copy's library and programs instead, and uses them under the new network's label,
and tries the conduits' promises on it.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

NAME = "trial"

ENVIRONMENT = """\
// Variables that trial reads; see src/base/env.h.

GEX_ENV(trial_word, "GEX_TRIAL_WORD", text, "", "network", "trial: a word that rank 0 prints.")
"""
PROMISES = 'GEX_SUBJECTS(trial){\n    {"trial", GEX_TRIAL_CONDUIT},\n};\n'
PAGE = "# The conduit trial\n\nMailboxes in shared memory, see\n[writing a conduit](writing-a-conduit.md).\n"
LABELLED = """\
#include <gasnetex.h>
#include <stdio.h>
int main(void) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  if (gex_Client_Init(&client, &endpoint, &team, "LABELLED", 0, 0, 0) != GASNET_OK) return 1;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (gex_TM_QueryRank(team) == 0) printf("%s %d\\n", GASNET_CONDUIT_NAME_STR,
                                          (int)gex_TM_QuerySize(team));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
  return 0;
}
"""


def fail(message):
    sys.exit(f"new_conduit: {message}")


def check(condition, message):
    if not condition:
        fail(message)


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GEX_")}
    environment.update(variables)
    result = subprocess.run([str(word) for word in command], env=environment, capture_output=True,
                            text=True, check=False)
    check(result.returncode == 0, f"{' '.join(map(str, command))}: status {result.returncode}\n"
          f"{result.stdout[-3000:]}{result.stderr[-3000:]}")
    return result.stdout + result.stderr


def contents(tree, without):
    """The digest of each file, by path, but for those in a folder."""
    return {str(path.relative_to(tree)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(tree.rglob("*"))
            if path.is_file() and without not in path.parents and "__pycache__" not in path.parts}


def replaced(text, *pairs):
    for old, new in pairs:
        check(old in text, f"the example conduit has no {old!r}")
        text = text.replace(old, new)
    return text


def cover_of(source):
    """The example's lines of the cover, under the new name."""
    lines = (source / "tests/jobs/conformance/cover.txt").read_text().splitlines()
    own = [line for line in lines if re.match(r"(network|check|cover) plugin\b", line)]
    # The example stands for all conduits outside the tree where these are seldom wanted: what its
    # lines leave to others this network wants itself.
    own += ["cover plugin 3 seq debug 1", "cover plugin 3 parsync check 2", "cover plugin 7 par check 1",
            "cover plugin 7 parsync debug 1", "cover plugin 16 par check 2",
            "cover plugin 16 parsync release 2", "cover plugin 4 par debug 1",
            "cover plugin 4 parsync check 2", "cover plugin 1 seq release 1",
            "cover plugin 1 par debug 2"]
    return "".join(line.replace(" plugin", f" {NAME}") + "\n" for line in own)


def add_conduit(tree, reads_variable):
    """The variable is one of the copy's library: that of BUILD has none of that name."""
    folder = tree / "src/net" / NAME
    folder.mkdir()
    example = (tree / "examples/conduit/example_conduit.cc").read_text()
    source = replaced(example, ("Example", "Trial"), ('"example', f'"{NAME}'),
                      ("gex-example", f"gex-{NAME}"))
    if reads_variable:
        size = "  const size_t size = size_of(host);\n"
        source = replaced(source, (
            size, size + '  const char* word = host.env_text("GEX_TRIAL_WORD");\n'
            "  if (word != nullptr && host.rank == 0) host.warn(word);\n"))
    (folder / f"{NAME}.cc").write_text(source)
    (folder / "conduit.cmake").write_text(f"gex_conduit({NAME} PLUGIN ONE_MACHINE)\n")
    (folder / "environment.def").write_text(ENVIRONMENT)
    (folder / "cover.txt").write_text(cover_of(tree))
    (folder / "promises.inc").write_text(PROMISES)
    (folder / f"{NAME}.md").write_text(PAGE)
    return folder


def configure(tree, build, reference):
    cache = (reference / "CMakeCache.txt").read_text()

    def taken(name):
        found = re.search(rf"^{name}:\w+=(.+)$", cache, re.MULTILINE)
        return [f"-D{name}={found.group(1)}"] if found else []

    options = [option for name in ["CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER",
                                   "CMAKE_MAKE_PROGRAM", "CMAKE_CXX_COMPILER_LAUNCHER",
                                   "CMAKE_C_COMPILER_LAUNCHER"] for option in taken(name)]
    generator = re.search(r"^CMAKE_GENERATOR:\w+=(.+)$", cache, re.MULTILINE).group(1)
    run(["cmake", "-S", tree, "-B", build, "-G", generator, *options, "-DGEX_BUILD_APPS=OFF",
         "-DGEX_DEBUG_LIBRARY=OFF"])


def build_targets(build, *targets):
    run(["cmake", "--build", build, "--target", *targets])


def try_declarations(tree, build):
    """The rest of the tree has found the folder."""
    listed = run(["ctest", "--test-dir", build, "-N"])
    check(f"job.conformance.{NAME}.2.seq.debug.1" in listed, "its lines of the cover are no tests")
    part = run(["ctest", "--test-dir", build, "-N", "-C", f"product-{NAME}"])
    check(f"job.conformance.{NAME}.2.seq.check.1" in part, f"there is no part product-{NAME}")
    run([sys.executable, "-B", tree / "tests/jobs/conformance/cover.py", "check"])
    run([sys.executable, "-B", tree / "tests/structure/include_arrows.py", tree])
    table = build.parent / "environment.md"
    run([sys.executable, "-B", tree / "tools/generate-env-docs", "--document", table])
    for row in ["GEX_TRIAL_WORD", "GASNET_TRIAL_SPAWNER"]:
        check(row in table.read_text(), f"{row} is not in the documentation")
    check(f"product-{NAME}" in run(["make", "-C", tree, "-pn", "clean"]), "make does not have its part")
    installs = (build / "cmake_install.cmake").read_text()
    for part in [f"src/net/{NAME}/{NAME}.md", f"libgex-{NAME}.so"]:
        check(part in installs, f"{part} is not installed")


def try_over(reference, build):
    """A program of the tree's own build over the copy's plug-in."""
    printed = run([reference / "bin/gexrun", "-n", "2", reference / "tests/bin/conformance_seq",
                "--gtest_filter=System*:Medium*:Rma*"],
               GEX_CONDUIT=NAME, GEX_CONDUIT_PATH=str(build / "lib"), GASNET_SUPERNODE_MAXSIZE="1",
               GEX_VERBOSE="1")
    check(f"network {NAME} (GEX_CONDUIT)" in printed, f"not over the network:\n{printed}")


def try_whole(tree, build, work):
    build_targets(build, "gex", "gexrun", "gexinfo", "gasnetrun", "net_conduit_test")
    source, program = work / "labelled.c", work / "labelled"
    source.write_text(LABELLED)
    run(["cc", "-DGASNET_SEQ", f"-DGASNET_CONDUIT_{NAME.upper()}=1", "-I", tree / "include", "-I",
         build / "generated/include", source, "-o", program, "-L", build / "lib", "-lgex",
         f"-Wl,-rpath,{build / 'lib'}"])
    printed = run([build / "bin/gexrun", "-n", "2", program], GASNET_SUPERNODE_MAXSIZE="1", GEX_VERBOSE="1",
               GEX_TRIAL_WORD="spoken by trial")
    check(f"network {NAME} (what the client was compiled for)" in printed, f"not by its label:\n{printed}")
    check(f"{NAME.upper()} 2\n" in printed, f"not under its label:\n{printed}")
    check("spoken by trial" in printed, f"its variable is not read:\n{printed}")
    check("GEX_TRIAL_WORD" in run([build / "bin/gexinfo", "--env"]), "gexinfo does not list its variable")
    launcher = work / f"gasnetrun_{NAME}"
    launcher.symlink_to(build / "bin/gasnetrun")
    refused = subprocess.run([launcher, "-n", "2", "-spawner=ssh", program], capture_output=True, text=True,
                             check=False)
    check(refused.returncode != 0 and f"the network {NAME} works on one machine only" in refused.stderr,
          f"its launcher does not detect that it is of one machine:\n{refused.stderr}")
    tried = run([build / "tests/bin/net_conduit_test", f"--gtest_filter=*/{NAME}"])
    check(re.search(r"\[  PASSED  \] [1-9][0-9]* tests", tried), f"no promise was tried:\n{tried}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    tree, build = options.work / "tree", options.work / "build"
    shutil.copytree(options.source, tree, symlinks=True,
                    ignore=lambda folder, names: {name for name in names if name in {".git", "build"}
                                                  and pathlib.Path(folder) == options.source})
    folder = add_conduit(tree, options.whole)
    before = contents(tree, folder)
    configure(tree, build, options.build)
    build_targets(build, f"gex_{NAME}")
    try_declarations(tree, build)
    if options.whole:
        try_whole(tree, build, options.work)
    else:
        try_over(options.build, build)
    after = contents(tree, folder)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    check(not changed, f"other files have changed: {', '.join(changed)}")
    shutil.rmtree(options.work)


if __name__ == "__main__":
    main()
