"""A test of a script that checks a source tree: a tree that it accepts, and the same with changes."""

import os
import subprocess
import sys
import tempfile
import unittest


class SeededTree(unittest.TestCase):
    """`script`: the file's name, beside this one; `good`: text by path."""

    script = None
    good = None

    def check(self, changes):
        return self.check_tree({**self.good, **changes})

    def check_tree(self, tree):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), self.script)
        with tempfile.TemporaryDirectory() as root:
            for path, text in tree.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return subprocess.run([sys.executable, script, root], capture_output=True, text=True,
                                  check=False)

    def assert_accepted(self, changes):
        result = self.check(changes)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def assert_caught(self, changes, line):
        result = self.check(changes)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(line, result.stdout)
