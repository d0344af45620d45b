"""Compiles a source that uses every name of an interface, the way clients may.

For GCC and Clang, C11, C17, C++11 and C++20, and each mode that the source has, without a warning.
What is run differs by mode and by language, not more, so that every mode is run in one column of each
language; optimised, as warnings may depend on that, in the first mode only. The others compile the
first mode and the last; with --product as last argument of the script, every one, and all that is
run is optimised.
"""

import os
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
COMPILERS = [("gcc", "c", "c11"), ("gcc", "c", "c17"), ("clang", "c", "c11"), ("clang", "c", "c17"),
             ("g++", "c++", "c++11"), ("g++", "c++", "c++20"),
             ("clang++", "c++", "c++11"), ("clang++", "c++", "c++20")]
RUN = {("gcc", "c11"), ("clang++", "c++20")}


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


class NameCompiler:
    def __init__(self, include, library, product):
        self.product = product
        self.include = include
        self.library = library
        self.failures = []
        self.count = 0

    def base(self, compiler, language, standard):
        return [compiler, f"-std={standard}", *WARNINGS, "-I", self.include, "-x", language]

    def fail(self, what, result):
        self.failures.append(f"{what}: status {result.returncode}\n{result.stdout}{result.stderr}")

    def runs(self, column):
        compiler, _, standard = column
        return (compiler, standard) in RUN

    def accepted(self, source, modes):
        with tempfile.TemporaryDirectory() as work:
            program = os.path.join(work, "names")
            for column in COMPILERS:
                everything = self.product or self.runs(column)
                for mode in modes if everything else [modes[0], modes[-1]]:
                    optimise = "-O2" if self.product or mode == modes[0] else "-O0"
                    self.accept(source, column, mode, program, optimise)

    def accept(self, source, column, mode, program, optimise):
        command = [*self.base(*column), *("-D" + define for define in mode), source]
        runs = self.runs(column)
        if runs:
            command += [optimise, "-o", program, "-x", "none", "-L", self.library, "-lgex",
                        f"-Wl,-rpath,{self.library}", "-pthread"]
        else:
            command += ["-fsyntax-only"]
        self.count += 1
        result = run(command)
        if result.returncode != 0:
            self.fail(" ".join(command), result)
        elif runs:
            result = run([program])
            if result.returncode != 0:
                self.fail(f"running {' '.join(command)}", result)

    def refused(self, source, modes):
        """modes: (mode, what the refusal contains)"""
        for column in COMPILERS:
            if not self.product and not self.runs(column):
                continue
            for mode, reason in modes:
                self.count += 1
                result = run([*self.base(*column), *("-D" + define for define in mode),
                              "-fsyntax-only", source])
                if result.returncode == 0 or reason not in result.stderr:
                    self.fail(f"{column} {mode}: must be refused: {reason}", result)

    def finish(self):
        for failure in self.failures:
            print(failure)
        print(f"{self.count} compilations, {len(self.failures)} failures")
        sys.exit(1 if self.failures else 0)
