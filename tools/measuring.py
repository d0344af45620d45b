"""The common part of the scripts that measure libgex: the tree, the machine, and programs with a time
limit. Needs Python 3.8 and nothing that has to be installed."""

import contextlib
import glob
import os
import pathlib
import platform
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def usual_tree():
    """The installation that these scripts are in, or the release build of their source tree."""
    for tree in (HERE.parent, HERE.parent / "build/release"):
        if (tree / "bin/gexperf").exists():
            return tree
    return None


def library_of(tree):
    """libgex.so of a build folder or an installation, or nothing."""
    for folder in ("lib", "lib64", "lib/*-linux-gnu"):
        for found in sorted(glob.glob(str(tree / folder / "libgex.so.*"))):
            if not os.path.islink(found) or os.path.exists(found):
                return pathlib.Path(found)
    return None


def environment_of(library):
    """For programs of that library's tree: those of a build folder look for it where they were built."""
    paths = [str(library.parent), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}


def machine():
    model = ""
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(),
                          re.MULTILINE)
        model = found.group(1) if found else ""
    siblings = set()
    for processor in os.sched_getaffinity(0):
        path = f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list"
        try:
            siblings.add(pathlib.Path(path).read_text().strip())
        except OSError:
            siblings.add(str(processor))
    return {"model": model or platform.machine(), "processors": len(os.sched_getaffinity(0)),
            "cores": len(siblings), "kernel": platform.release(), "load": os.getloadavg()[0]}


def run(arguments, environment, limit):
    """Standard output and an empty reason, or nothing and the reason."""
    command = [str(argument) for argument in arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment)
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.terminate()  # gexperf and gexrun end their job
        process.communicate()
        return None, f"not finished after {limit:.0f} s"
    except KeyboardInterrupt:
        process.terminate()
        process.communicate()
        raise
    if process.returncode != 0:
        lines = errors.strip().splitlines()
        return None, lines[-1] if lines else f"exit status {process.returncode}"
    return output, ""
