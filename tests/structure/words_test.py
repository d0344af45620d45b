#!/usr/bin/env python3
"""words.py accepts plain words and catches those of its list wherever they stand."""

import unittest

from seeded_tree import SeededTree

PATH = "src/job/peer.cc"
GOOD = {
    PATH: "// Reports an exited peer, if there is one; 0 if there is none.\n"
          "int report_exited_peer(int max, bool unknown, int almost_full);\n"
          "/// Unless that is `none`.\n"
          'const char* usage = "it stores, tallies and invalidates";\n',
    "tests/unit/peer_test.py": "if bear is None: assertIsNone(bear)\n",
    "CHANGELOG.md": "Who says so?\n",
    "docs/page.md": "| one | a word |\n| two | the same for others |\n",
}


class Words(SeededTree):
    script = "words.py"
    good = GOOD

    def catches(self, text, what, line=1, path=PATH):
        self.assert_caught({path: text}, f"{path}:{line}: '{what}': ")

    def test_accepts_plain_words_and_what_is_not_checked(self):
        self.assert_accepted({})

    def test_comment(self):
        self.catches("int a;\n// It waits in vain.\n", "in vain", 2)
        self.catches("int a;  ///< of the guests\n", "guests")
        self.catches("/* a\n * stranger */\n", "stranger", 2)

    def test_comment_of_two_lines(self):
        self.catches("/// It waits in\n/// vain.\n", "in vain")

    def test_string(self):
        self.catches('print("%s tells it", name);\n', "tells")
        self.catches('print("a rank that is "\n      "none");\n', "is none")

    def test_identifier(self):
        self.catches("void wait_in_vain();\n", "in vain")
        self.catches("class WaitInVain {};\n", "in vain")
        self.catches("enum class Haste { none };\n", "haste")
        self.catches("int guests_ = 0;\n", "guests")
        self.catches("void let_go();\n", "let go")

    def test_build_files_and_scripts(self):
        self.catches("# It waits in\n# vain.\nset(a b)\n", "in vain", path="src/CMakeLists.txt")
        self.catches("# The same, once more.\n", "The same", path="cmake/GexTests.cmake")
        self.catches('echo "it tells $1"\n', "tells", path="tests/jobs/run.sh")
        self.catches("@prefix@\nwait_in_vain = 1\n", "in vain", 2, path="cmake/fragment.mak.in")
        self.catches("check:\n\t@echo it tells\n", "tells", 2, path="Makefile")
        self.catches("bearer = 1\n", "bearer", path="tests/unit/peer_test.py")
        self.catches("# A rank\n# that is none.\n", "is none", 2, path="tools/draw-rooms")

    def test_most(self):
        self.catches("constexpr int most_pieces = 1;\n", "most_pieces")
        self.catches("int poll(int channels, size_t most);\n", "most")
        self.assert_accepted({PATH: "use(most_payload, at_most, at_most_one);  // the most pieces\n"})

    def test_comment_that_needs_another(self):
        self.catches("/// The same, given by the first.\nint a;\n", "The same")
        self.catches("// It is the same, but\n// slower.\n", "the same but")

    def test_clause_without_a_noun(self):
        self.catches("int a;\n/// Whether it waits.\nbool waits();\n", "Whether", 2)
        self.catches("int a;\n// Whether it waits.\n", "Whether", 2)
        self.catches('"""Whether it waits."""\n', "Whether", path="tests/unit/peer_test.py")
        self.catches("int a;  ///< Of each rank.\n", "Of")
        self.catches("# Those that wait.\n", "Those", path="src/CMakeLists.txt")
        self.catches("int a;\n/// What it waits for.\nint b;\n", "What", 2)
        self.catches("int a;\n/// That of a peer.\nint b;\n", "That", 2)
        self.catches('"""What waits."""\n', "What", path="tests/unit/peer_test.py")
        self.catches("#pragma once\n// What waits.\n", "What", 2)
        self.assert_accepted({PATH: "int a;\n// What waits is released.\n/// That rank waits.\nint b;\n"})
        self.catches("int a;\n// Cut short. Who waits is released.\n", "Who", 2)

    def test_predicate(self):
        self.catches("// A rank that is none.\n", "is none")

    def test_replacement_is_printed(self):
        self.assert_caught({PATH: "int most_guests;\n"}, f"{PATH}:1: 'most_guests': max_...")

    def test_documents(self):
        self.catches("# Title\n\nIt tells\nnobody.\n", "tells", 3, path="docs/page.md")
        self.catches("# Title\n\nIt lets\ngo.\n", "lets go", 3, path="cmd/gexrun/README.md")

    def test_other_clean_folders(self):
        self.catches("// nobody\n", "nobody", path="cmd/gexrun/main.cc")
        self.catches("// nobody\n", "nobody", path="cmd/gasnetrun/options.h")
        self.catches("// nobody\n", "nobody", path="tests/unit/peer_test.cc")


if __name__ == "__main__":
    unittest.main()
