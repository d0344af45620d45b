#!/usr/bin/env python3
"""Reads the sources of the library and fails on one that reads the environment by itself, and on a row of
the environment table in a folder that does not read the variable.

    environment.py ROOT

What libgex reads is a row of an environment.def, or `gexinfo --env` and docs/environment.md do not
show it, and is read by src/base/env*.cc. What else may be read is listed below, with the reason; an
entry that nothing needs any more is a violation too.
"""

import os
import re
import sys

TABLE = re.compile(r"base/env\w*\.cc$")
SOURCE = re.compile(r"\.(h|cc|c|def|inc)$")
# Strings come first, since two slashes in one begin no comment.
TEXT = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', re.DOTALL)
# The C library's ways, and those of the tools interface, which are for clients.
READ = re.compile(r"\b(\w*getenv\w*)\s*\((?=([^;{]*))|\b_*environ\b")

CLIENT = "the client names the variable"
MANAGER = "a process manager sets it for the processes it starts"
BATCH_SYSTEM = "a batch system sets it for the programs of its jobs"
LIBFABRIC = "libfabric reads it, and it is set for that unless the user has set it"
OF_LIBRARY = "the network's library reads it, and what libgex does must agree with it"
# What may stand within the parentheses of a call in that file.
ALLOWED = {
    "src/api/gasnet1_core.cc": (r"(const char\* )?name\)", CLIENT),
    "src/tools/env.cc": (r"(const char\* )?key[,)]", CLIENT),
    "src/job/place.cc": (r'("PMI_FD"|variable)\)', MANAGER),
    "src/job/pmi2.cc": (r'"PMI_\w+"\)', MANAGER),
    "src/job/pmi_wire.cc": (r"variable\)", MANAGER),
    "src/job/process_manager.cc": (r'("PMI_\w+"|"PMIX_\w+"|sign\.variable)\)', MANAGER),
    "src/launch/agents/task_shell.cc": (r'"HOME"\)', "a file that other hosts see goes there"),
    "src/launch/local/execution.cc": (r'"PATH"\)', "as any shell, it looks for programs there"),
    "src/launch/map/allocation.cc": (r"variable\)", BATCH_SYSTEM),
    "src/net/mpi/mpi.cc": (r"sign\.variable\)", MANAGER),
    "src/net/mpi/library/session.cc": (r'(size_variable|"PMIX_NAMESPACE")\)', MANAGER),
    "src/net/ofi/default_variable.h": (r"name\)", LIBFABRIC),
    "src/net/ofi/ofi.cc": (r"port_variable\)", OF_LIBRARY),
    "src/net/ucx/context.cc": (r'"UCX_TCP_PORT_RANGE"\)', OF_LIBRARY),
    "src/net/ucx/ucx.cc": (r"ucx_name\)", OF_LIBRARY),
}
ALLOWED_WHOLE = {"src/launch/agents/launch_agents.cc": "all of it goes to the ranks of other hosts"}

ROW = re.compile(r'^GEX_ENV\((\w+),\s*"([^"]+)"', re.MULTILINE)
# Variables that are read under a name that is put together from parts.
COMPOSED = {"GASNET_SMP_SPAWNER"}


def reads(path, text):
    """(line, what is written there, whether it may be) of each read of the environment."""
    blank = TEXT.sub(lambda found: found.group(1) or "\n" * found.group().count("\n"), text)
    for match in READ.finditer(blank):
        line = blank.count("\n", 0, match.start()) + 1
        if match.group(1):
            pattern = ALLOWED.get(path, ("(?!)",))[0]
            yield line, match.group(1), re.match(pattern, match.group(2)) is not None
        else:
            yield line, "environ", path in ALLOWED_WHOLE


def violations(root):
    unused = set(ALLOWED) | set(ALLOWED_WHOLE)
    count = 0
    for directory, _, names in os.walk(os.path.join(root, "src")):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(directory, name), root).replace(os.sep, "/")
            if not SOURCE.search(name) or TABLE.search(path):
                continue
            count += 1
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
            for line, what, allowed in reads(path, text):
                if allowed:
                    unused.discard(path)
                else:
                    yield (f"{path}:{line}: {what}: the library reads its environment by base/env.h, "
                           "and its folder has a row for the variable in environment.def")
    for path in sorted(unused):
        yield f"{path}: reads no environment any more, and needs no exception"
    if count == 0:
        sys.exit(f"{root}: no sources below src/")


def misplaced(root):
    """Rows whose folder reads the variable neither by its identifier nor by its name."""
    for directory, folders, names in os.walk(root):
        # Not what is built: it may hold copies of the tree.
        folders[:] = sorted(name for name in folders if directory != root or name in {"src", "cmd"})
        if "environment.def" not in names:
            continue
        text = ""
        for below, _, names in os.walk(directory):
            for name in names:
                if name.endswith((".h", ".cc", ".c")):
                    with open(os.path.join(below, name), encoding="utf-8") as file:
                        text += TEXT.sub(lambda found: found.group(1) or " ", file.read())
        path = os.path.join(directory, "environment.def")
        with open(path, encoding="utf-8") as file:
            rows = ROW.findall(file.read())
        for identifier, name in rows:
            if name not in COMPOSED and f'"{name}"' not in text and not re.search(
                    rf"\bVariable::{identifier}\b", text):
                yield (f"{os.path.relpath(path, root)}: {name} is not read in this folder: its row belongs "
                       "to the one that reads it")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: environment.py ROOT")
    found = [*violations(sys.argv[1]), *misplaced(sys.argv[1])]
    for line in found:
        print(line)
    print(f"{len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
