#!/usr/bin/env python3
"""Checks that some test fails when a function of the library's does nothing and returns success.

    survivors.py --ways FILE --build FOLDER --work FOLDER [--jobs N] [NAME...]

Each function that libgex.so exports is replaced, one at a time (mutants.py), and tests that can reach it
are run, the quickest first, until one fails or takes far longer than it should. Those tests are found
by the names that their code takes from the library: first the conformance suite, source by
source, then whatever tests of `make check` start a program that takes the name. The inline functions
of the headers hide most entry points, so the suite is compiled once more to call each of them.
NAME...: no functions but these.

FILE is JSON and names the library, gexrun, each suite's program and objects, and
further jobs. FOLDER after --build is that of CTest, after --work one for copies of the library.
Prints each function with the test that missed it, then those that none has missed, and fails if
there are any.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import time

import mutants

RANKS = "2"
MEMORY = {"GEX_CONDUIT": "smp"}
NETWORK = {"GEX_CONDUIT": "emu", "GASNET_SUPERNODE_MAXSIZE": "1"}
CHECKED = {"GEX_CHECK": "1"}
# Over a network, and checked, inline functions call what is behind them. Under a seed, operations are
# carried out some time after their calls.
LATE = {"GEX_EMU_SEED": "1"}
WAYS = (("exported", MEMORY), ("exported", NETWORK), ("inline", NETWORK),
        ("inline", {**MEMORY, **CHECKED}), ("exported", {**MEMORY, **CHECKED}),
        ("exported", {**NETWORK, **LATE}), ("inline", {**NETWORK, **LATE}))
# What the suite waits for comes within this time, or does not come.
IMPATIENT = {"CONFORMANCE_PATIENCE": "0.5"}
# Tests of `make check` that take longer are not tried, nor those whose subject is not the library, or
# which are the suite.
MAX_SECONDS = 10
NOT_TRIED = re.compile(r"(job\.conformance\.(?!clients|registration)|structure|install|hosts|mutation)\b")

Outcome = collections.namedtuple("Outcome", "passed seconds output")
Test = collections.namedtuple("Test", "name command environment seconds")


def run(test, library, limit):
    """Runs a test with the library of a folder. What does not end by itself has not passed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output, subprocess.Popen(
            test.command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **test.environment, "LD_LIBRARY_PATH": str(library)}) as process:
        try:
            passed = process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            passed = False
            process.terminate()  # gexrun ends its ranks
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return Outcome(passed, time.monotonic() - began, output.read().decode(errors="replace"))


@functools.cache
def taken_names(path, *options):
    """Names that an object or a program takes from elsewhere."""
    listed = subprocess.run(["nm", *options, "--undefined-only", "--format=posix", path], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return frozenset(line.split()[0].split("@")[0] for line in listed.splitlines() if line)


def is_program(argument):
    """Returns true if it is a file of ELF."""
    try:
        with open(argument, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def bodies(program):
    """The names of a GoogleTest program's tests, by the file that has them."""
    with tempfile.NamedTemporaryFile(suffix=".json") as listing:
        subprocess.run([program, "--gtest_list_tests", f"--gtest_output=json:{listing.name}"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        suites = json.load(listing)["testsuites"]
    names = collections.defaultdict(list)
    for suite in suites:
        for test in suite["testsuite"]:
            names[pathlib.Path(test["file"]).name].append(f"{suite['name']}.{test['name']}")
    return names


class Tests:
    """The tests, the names that each takes, and the time it takes on the library as it is."""

    def __init__(self, described, build, control, pool):
        self.control = control
        self.suites = []  # of each way: tests by source, and the names that each source takes
        for suite, environment in WAYS:
            program = described["suites"][suite]["program"]
            takes = {pathlib.Path(path).name.removesuffix(".o"): taken_names(path)
                     for path in described["suites"][suite]["objects"]}
            where = ", ".join("=".join(setting) for setting in environment.items())
            tests = {source: Test(f"{source} ({suite}, {where})",
                                  [described["gexrun"], "-n", RANKS, program,
                                   "--gtest_break_on_failure", "--gtest_filter=" + ":".join(names)],
                                  environment, None)
                     for source, names in bodies(program).items()}
            self.suites.append((tests, takes))
        self.measured = {}
        first = self.suites[0][0]
        measured = pool.map(self.measure, first.values())
        self.seconds = {source: test.seconds for source, test in zip(first, measured)}
        self.others = []
        for job in described["jobs"]:
            takes = frozenset().union(*(taken_names(word, "--dynamic") for word in job["command"]
                                        if is_program(word)))
            self.others.append((Test(job["name"], job["command"], job["environment"], None), takes))
        registered = json.loads(subprocess.run(
            ["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
            stdout=subprocess.PIPE).stdout)
        for one in registered["tests"]:
            if NOT_TRIED.match(one["name"]) or "command" not in one:  # not built
                continue
            environment = dict(setting.split("=", 1) for entry in one["properties"]
                               if entry["name"] == "ENVIRONMENT" for setting in entry["value"])
            # The library that was replaced checks, instead of the checking one.
            if "LD_LIBRARY_PATH" in environment:
                environment.update(CHECKED)
            takes = frozenset().union(*(taken_names(word, "--dynamic")
                                        for word in one["command"] if is_program(word)))
            self.others.append((Test(one["name"], one["command"], environment, None), takes))

    def measure(self, test):
        """The test of the suite with its time."""
        if test.name not in self.measured:
            impatient = test._replace(environment={**test.environment, **IMPATIENT})
            outcome = run(impatient, self.control, 60)
            if not outcome.passed:  # perhaps the machine is busy
                impatient = test
                outcome = run(test, self.control, 120)
            if not outcome.passed:
                raise RuntimeError(f"{test.name} fails with every function in its place:\n"
                                   f"{' '.join(test.command)}\n{outcome.output[-2000:]}")
            self.measured[test.name] = impatient._replace(seconds=outcome.seconds)
        return self.measured[test.name]

    def measure_other(self, test):
        """The test of `make check` with its time, or None if it is not to be tried."""
        if test.name not in self.measured:
            outcome = run(test, self.control, MAX_SECONDS)
            self.measured[test.name] = test._replace(seconds=outcome.seconds) if outcome.passed else None
        return self.measured[test.name]

    def that_reach(self, name):
        """Each test that can, in the order in which they are tried."""
        for tests, takes in self.suites:
            # What the harness takes reaches every test.
            everywhere = any(name in names for source, names in takes.items() if source not in tests)
            for source in sorted(tests, key=lambda source: self.seconds.get(source, 0)):
                if everywhere or name in takes.get(source, ()):
                    yield self.measure(tests[source])
        for test, takes in self.others:
            if name in takes and self.measure_other(test):
                yield self.measure_other(test)


Result = collections.namedtuple("Result", "name missed_by tried seconds")


def misses(test, without, control):
    """Returns true if the test fails with the library of one folder, and then passes with the other's:
    on a busy machine it may fail by its time limits alone."""
    limit = 1 + 6 * test.seconds
    for _ in range(3):
        if run(test, without, limit).passed:
            return False
        if run(test, control, limit).passed:
            return True
    return False


def try_without(name, library, tests, folders):
    """Runs tests without the function until one misses it."""
    began = time.monotonic()
    folder = folders.get()
    missed_by = None
    tried = 0
    with library.replaced(name, folder / library.file_name):
        for test in tests.that_reach(name):
            tried += 1
            if misses(test, folder, tests.control):
                missed_by = test.name
                break
    folders.put(folder)
    return Result(name, missed_by, tried, time.monotonic() - began)


def make_folder(path, library, plugins):
    """A folder with a copy of the library, and its networks beside it."""
    path.mkdir(parents=True, exist_ok=True)
    for plugin in plugins:
        link = path / plugin.name
        link.unlink(missing_ok=True)
        link.symlink_to(plugin)
    library.write(path / library.file_name)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    described = json.loads(pathlib.Path(options.ways).read_text())
    library = mutants.Library(described["library"])
    plugins = list(pathlib.Path(described["library"]).parent.glob("libgex-*.so"))
    folders = queue.Queue()
    for number in range(options.jobs):
        folders.put(make_folder(pathlib.Path(options.work) / str(number), library, plugins))
    control = make_folder(pathlib.Path(options.work) / "control", library, plugins)
    every = options.names or sorted(library.values)
    names = [name for name in every if not library.does_nothing(name)]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tests = Tests(described, options.build, control, pool)
        results = []
        for result in pool.map(lambda name: try_without(name, library, tests, folders), names):
            results.append(result)
            print(f"{result.name}: {result.missed_by}, {result.tried} tried, {result.seconds:.1f} s",
                  flush=True)
    survivors = [result for result in results if not result.missed_by]
    print(f"{len(names)} functions replaced in {time.monotonic() - began:.0f} s; what does nothing by "
          f"itself: {' '.join(name for name in every if name not in names) or 'none'}")
    for result in survivors:
        print(f"no test misses {result.name} ({result.tried} reach it)")
    sys.exit(1 if survivors or not names else 0)


if __name__ == "__main__":
    main()
