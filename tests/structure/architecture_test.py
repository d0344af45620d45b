#!/usr/bin/env python3
"""architecture.py accepts a page that is true of its tree and catches each seeded violation."""

import unittest

from seeded_tree import SeededTree

ROOMS = """\
+-----------------------+
| api   entry points    |
+----------------+------+
| core  objects  |      |
+-------+--------+      |
| net   networks |      |
| shm   rings    |      |
| job   joining  | tools|
+----------------+------+
| base  errors          |
| include/gex           |
+-----------------------+
"""


def page(rooms=ROOMS, text="`base/error.cc` and `net/conduit.h`, and error.cc."):
    return f"# The house\n\n```\nanother drawing | of | something\n```\n\n```\n{rooms}```\n\n{text}\n"


GOOD = {"docs/architecture.md": page(), "src/base/error.cc": "", "src/job/job.cc": "",
        "src/shm/ring.h": "", "src/net/conduit.h": "", "src/core/event.h": "",
        "src/tools/env.cc": "", "src/api/am.cc": ""}


class Architecture(SeededTree):
    script = "architecture.py"
    good = GOOD

    def drawn(self, before, after):
        self.assertIn(before, ROOMS)
        return {"docs/architecture.md": page(ROOMS.replace(before, after))}

    def test_accepts_what_is_true(self):
        self.assert_accepted({})

    def test_a_folder_of_the_launcher_that_is_not_listed(self):
        self.assert_caught({"src/launch/map/map.h": ""},
                           "does not list the folder map/ of src/launch/")

    def test_a_room_too_low(self):
        lower = self.drawn("| core  objects  |      |\n", "")
        lower["docs/architecture.md"] = lower["docs/architecture.md"].replace(
            "| job   ", "| core  objects |\n| job   ")
        self.assert_caught(lower, "draws core above base job tools; "
                           "it may include base job net shm")

    def test_rooms_beside_one_another_of_which_one_may_include_the_other(self):
        self.assert_caught(self.drawn("| shm   rings    |      |\n| job   joining  |",
                                      "| shm rings | job joining |"), "draws shm above base;")

    def test_a_room_aside_above_what_it_may_not_include(self):
        higher = self.drawn("joining  | tools|", "joining  |      |")
        higher["docs/architecture.md"] = higher["docs/architecture.md"].replace(
            "rings    |      |", "rings    | tools|")
        self.assert_caught(higher, "draws tools above base job; it may include base")

    def test_a_room_that_is_not_drawn(self):
        self.assert_caught({"src/am/send.cc": ""}, "does not draw am")

    def test_a_room_that_is_not_there(self):
        self.assert_caught(self.drawn("| core ", "| coll "), "draws coll, which src/ does not have")

    def test_no_drawing(self):
        self.assert_caught({"docs/architecture.md": page(rooms="")}, "has no drawing")

    def test_a_file_that_is_not_there(self):
        self.assert_caught({"docs/architecture.md": page(text="see `am/send.cc`")},
                           "names am/send.cc, which is not there")


if __name__ == "__main__":
    unittest.main()
