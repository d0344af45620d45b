"""A test of a script that checks a source tree: a tree that it accepts, and the same with changes."""

import contextlib
import importlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock


def run_script(script, *arguments):
    """Runs a script beside this file in this process, which takes a tenth of the time that Python needs to
    start. Returns what subprocess.run would."""
    module = importlib.import_module(os.path.splitext(script)[0])
    printed, error, status = io.StringIO(), io.StringIO(), 0
    with unittest.mock.patch.object(sys, "argv", [script, *arguments]), \
            contextlib.redirect_stdout(printed), contextlib.redirect_stderr(error):
        try:
            module.main()
        except SystemExit as end:
            status = end.code or 0
            if isinstance(status, str):
                error.write(status + "\n")
                status = 1
    return subprocess.CompletedProcess(script, status, printed.getvalue(), error.getvalue())


class SeededTree(unittest.TestCase):
    """`script`: the file's name, beside this one; `good`: text by path."""

    script = None
    good = None

    def check(self, changes):
        return self.check_tree({**self.good, **changes})

    def check_tree(self, tree):
        with tempfile.TemporaryDirectory() as root:
            for path, text in tree.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return run_script(self.script, root)

    def assert_accepted(self, changes):
        result = self.check(changes)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def assert_caught(self, changes, line):
        result = self.check(changes)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(line, result.stdout)
