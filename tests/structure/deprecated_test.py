#!/usr/bin/env python3
"""deprecated.py accepts comments and literals, and catches each seeded use."""

import unittest

from seeded_tree import SeededTree


class Deprecated(SeededTree):
    script = "deprecated.py"
    good = {"src/net/ofi/domain.cc": "// As FI_MR_BASIC has it.\nint mode = FI_MR_LOCAL;\n"
                                     "const char* text = \"FI_ORDER_NONE\";\n"}

    def test_accepts_what_is_current(self):
        self.assert_accepted({})

    def test_a_use(self):
        self.assert_caught({"src/net/ofi/domain.cc": "// FI_MR_LOCAL\nint mode = FI_MR_BASIC;\n"},
                           "src/net/ofi/domain.cc:2: FI_MR_BASIC is deprecated")

    def test_a_use_in_a_test(self):
        self.assert_caught({"tests/fabric/info.h": "auto order = FI_ORDER_NONE | x; /* none */\n"},
                           "tests/fabric/info.h:1: FI_ORDER_NONE is deprecated; instead: 0")


if __name__ == "__main__":
    unittest.main()
