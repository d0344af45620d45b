#!/usr/bin/env python3
"""docs.py accepts documents that are laid out well, catches each violation, and --fix wraps text
without changing its meaning."""

import os
import tempfile
import unittest

from seeded_tree import SeededTree, run_script

LONG = "word " * 30
GOOD = {
    "README.md": "# Title\n\nText, and [a page](docs/page.md#part), and [elsewhere](https://a.b/c).\n",
    "docs/page.md": f"# Part\n\n| {LONG}|\n|---|\n\n{'x' * 120}\n\n1. one\n   more of one\n2. two\n",
}


class Docs(SeededTree):
    script = "docs.py"
    good = GOOD

    def test_accepts_tables_and_words_longer_than_a_line(self):
        self.assert_accepted({})

    def test_long_text(self):
        self.assert_caught({"docs/notes/one.md": f"# Title\n\nshort\n{LONG}\n"},
                           "docs/notes/one.md:4: longer than 100 characters")

    def test_long_item_and_code(self):
        self.assert_caught({"docs/page.md": f"- item\n  {LONG}\n"}, "docs/page.md:2: longer")
        self.assert_caught({"docs/page.md": f"```\n{LONG}\n```\n"}, "docs/page.md:2: longer")
        self.assert_caught({"docs/page.md": f"    {LONG}\n"}, "docs/page.md:1: longer")

    def test_dead_link(self):
        self.assert_caught({"docs/other.md": "see\n[this](README.md)\n"},
                           "docs/other.md: links to README.md, which is not there")

    def test_link_to_a_heading_that_is_not_there(self):
        self.assert_caught({"docs/page.md": "# Parts\n"},
                           "README.md: links to docs/page.md#part, which has no such heading")
        self.assert_caught({"docs/other.md": "# One\n\n```\n# Two\n```\n\n[two](#two)\n"},
                           "docs/other.md: links to #two, which has no such heading")
        self.assert_accepted({"docs/other.md": "# `One`, two\n\n[one](#one-two)\n"})

    def test_long_cell(self):
        wide = f"# Part\n\n| a | b |\n|---|---|\n| a | {LONG}more |\n"
        self.assert_caught({"docs/page.md": wide}, "docs/page.md:5: a cell of 154 characters")
        self.assert_accepted({"bench/page.md": wide})
        self.assert_accepted({"docs/other.md": f"| {'a' * 80} | {'b' * 80} |\n"})

    def test_code_that_is_not_the_files(self):
        page = "# Part\n\n[a.cc](a.cc):\n\n```cpp\nint a;\n```\n"
        self.assert_accepted({"docs/a.cc": "int a;\n", "docs/page.md": page})
        self.assert_caught({"docs/a.cc": "int b;\n", "docs/page.md": page},
                           "docs/page.md: the code of a.cc is not that of the file")

    def fixed(self, text):
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, "README.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            run_script(self.script, root, "--fix")
            with open(path, encoding="utf-8") as file:
                return file.read()

    def test_fix_keeps_the_words(self):
        text = f"# Title\n\n- an item `of code {LONG[:60]}` {LONG}\n- 2\n\n{LONG}- {LONG}\n"
        fixed = self.fixed(text)
        self.assertEqual(fixed.split(), text.split())
        self.assertLessEqual(max(map(len, fixed.splitlines())), 100)
        self.assertIn(f"`of code {LONG[:60]}`", fixed)
        self.assertEqual(sum(line.startswith("- ") for line in fixed.splitlines()), 2)
        self.assertIn("\n  word", fixed)

    def test_fix_leaves_what_is_short_or_cannot_be_wrapped(self):
        text = f"short\nlines\n\n```\n{LONG}\n```\n\n| {LONG}|\n"
        self.assertEqual(self.fixed(text), text)


if __name__ == "__main__":
    unittest.main()
