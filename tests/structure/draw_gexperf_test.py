#!/usr/bin/env python3
"""The output of tools/draw-gexperf for a sample of gexperf's JSON.

    draw_gexperf_test.py DRAW_GEXPERF
"""

import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SCRIPT = sys.argv.pop()
LOADER = importlib.machinery.SourceFileLoader("draw_gexperf", SCRIPT)
SPEC = importlib.util.spec_from_loader("draw_gexperf", LOADER)
draw_gexperf = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(draw_gexperf)
SVG = "{http://www.w3.org/2000/svg}"


def row(name, ratio, **given):
    values = {"name": name, "size": "8 B", "value": 12.34, "unit": "ns", "spread": 0.01,
              "limit": None if ratio is None else 10, "ratio": ratio, "budget": None,
              "allowance_ns": None, "budget_of": None, "met": None, "accepted": 3, "runs": 3,
              "below_floor": False}
    return {**values, **given}


def budget(value, met, of="ratio", **given):
    return {"budget": value, "budget_of": of, "met": met, **given}


def data_of(*rows):
    return {"machine": "2 processors of A<B", "date": "2026-01-02", "rows": rows}


PAGE = """Before.

<!-- draw-gexperf: budgets-missed -->

an older table

<!-- draw-gexperf: end -->

After.
"""


class Table(unittest.TestCase):
    def page(self, *rows):
        return draw_gexperf.with_table(PAGE, data_of(*rows))

    def rows(self, *rows):
        return [line for line in self.page(*rows).splitlines() if line.startswith("| `")]

    def test_what_stands_around_it_is_left_alone(self):
        page = self.page(row("put.8", 3, **budget(2, False)))
        for text in ("Before.\n\n<!-- ", " -->\n\nAfter.\n"):
            self.assertIn(text, page)
        self.assertNotIn("older", page)
        self.assertEqual(draw_gexperf.with_table(page, data_of(row("put.8", 3, **budget(2, False)))), page)

    def test_the_rows_whose_budget_is_missed(self):
        self.assertEqual(self.rows(row("none", 9), row("met", 1, **budget(2, True)),
                                   row("missed", 3, **budget(2, False)),
                                   row("sum", 3, **budget(1.1, False, allowance_ns=45)),
                                   row("flood", None, **budget(15, False, "value")),
                                   row("launch", 9, **budget(10, False, "excess", unit="ms")),
                                   row("busy", 1, accepted=0, **budget(2, False)),
                                   row("low", 1, below_floor=True, **budget(2, False))),
                         ["| `missed` | 12.34 ns | 3.000 | 2x |",
                          "| `sum` | 12.34 ns | 3.000 | 1.1x+45 |",
                          "| `flood` | 12.34 ns |  | 15 ns |",
                          "| `launch` | 12.34 ms | 9.000 | +10 ms |",
                          "| `busy` | 12.34 ns | 1.000 | 2x (disturbed) |",
                          "| `low` | 12.34 ns | 1.000 | 2x (mistake) |"])

    def test_how_many_are_met_where_and_when(self):
        page = self.page(row("a", 1, **budget(2, True)), row("b", 3, **budget(2, False)), row("c", 1))
        self.assertIn("2 processors of A<B, 2026-01-02: 1 of 2 budgets are met.\n", page)
        self.assertNotIn("| row |", self.page(row("a", 1, **budget(2, True))))

    def test_a_page_without_a_place_for_it(self):
        for page in (PAGE.replace("missed", "met"), PAGE + PAGE):
            with self.assertRaisesRegex(SystemExit, "no place, or several, for the table"):
                draw_gexperf.with_table(page, data_of())


class Picture(unittest.TestCase):
    def draw(self, *rows):
        return ElementTree.fromstring(draw_gexperf.drawn(data_of(*rows)))

    def test_a_picture_that_is_not_current(self):
        with tempfile.TemporaryDirectory() as folder:
            data, picture = os.path.join(folder, "in.json"), os.path.join(folder, "out.svg")
            with open(data, "w", encoding="utf-8") as file:
                json.dump(data_of(row("put.8", 1.234)), file)
            command = [sys.executable, "-B", SCRIPT, data, "-o", picture]
            subprocess.run(command, check=True)
            subprocess.run([*command, "--check"], check=True)
            with open(picture, "a", encoding="utf-8") as file:
                file.write("stale\n")
            stale = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
            self.assertEqual((stale.returncode, len(stale.stderr.splitlines())), (1, 1))

    def test_a_table_that_is_not_current(self):
        with tempfile.TemporaryDirectory() as folder:
            data, picture, page = (os.path.join(folder, name) for name in ("in.json", "out.svg", "a.md"))
            with open(page, "w", encoding="utf-8") as file:
                file.write(PAGE)
            command = [sys.executable, "-B", SCRIPT, data, "-o", picture, "--page", page]
            for ratio in (3, 4):
                with open(data, "w", encoding="utf-8") as file:
                    json.dump(data_of(row("put.8", ratio, **budget(2, False))), file)
                stale = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
                self.assertEqual((stale.returncode, len(stale.stderr.splitlines())), (1, 1))
                subprocess.run(command, check=True)
                subprocess.run([*command, "--check"], check=True)
            with open(page, encoding="utf-8") as file:
                self.assertIn("| `put.8` | 12.34 ns | 4.000 | 2x |", file.read())

    def texts(self, picture):
        return [element.text for element in picture.iter(SVG + "text")]

    def bars(self, picture):
        """Colour and width of each row's bar."""
        return [(rect.get("fill"), float(rect.get("width"))) for rect in picture.iter(SVG + "rect")
                if rect.get("height") == "10" and rect.get("width") != "10"]

    def test_names_values_ratios_and_where_it_was_measured(self):
        texts = self.texts(self.draw(row("put.8", 1.234), row("am", 2, value=12345.6)))
        for text in ("put.8", "12.3 ns", "1.23", "am", "12.3 us", "2.00",
                     "2 processors of A<B, 2026-01-02"):
            self.assertIn(text, texts)

    def test_what_is_not_drawn(self):
        texts = self.texts(self.draw(row("put.8", 1.2), row("limit.line", None), row("emu.put.8", 1),
                                     row("launch.2", 3, unit="ms"), row("scale.64.memory", None)))
        self.assertFalse([text for text in texts if re.match("limit|emu|launch|scale", text)])

    def test_colours_show_whether_the_budget_is_met(self):
        bars = self.bars(self.draw(row("a", 1.5, **budget(2, True)), row("b", 3, **budget(2, False)),
                                   row("c", 3), row("d", 3, accepted=0, **budget(4, False))))
        colours = [colour for colour, _ in bars]
        self.assertEqual(len(set(colours[:3])), 3)
        self.assertEqual(colours[2], colours[3])
        self.assertLess(bars[0][1], bars[1][1])
        self.assertEqual(bars[1][1], bars[2][1])

    def marks(self, picture):
        return [path.get("d") for path in picture.iter(SVG + "path")
                if path.get("stroke-width") == "2"][1:]

    def test_a_mark_for_a_budget_of_the_ratio_its_allowance_added(self):
        plain = self.marks(self.draw(row("a", 1.5, **budget(2, True)), row("b", 1.5)))
        added = self.marks(self.draw(row("a", 1.5, **budget(1.5, True, allowance_ns=5))))
        self.assertEqual((len(plain), plain), (1, added))

    def test_a_row_without_a_limit(self):
        picture = self.draw(row("flood", None, **budget(15, True, "value")), row("both", None),
                            row("busy", None, accepted=0, **budget(15, False, "value")))
        self.assertEqual(self.bars(picture), [])
        for text in ("budget 15.0 ns", "no limit", "budget 15.0 ns disturbed"):
            self.assertIn(text, self.texts(picture))


if __name__ == "__main__":
    unittest.main()
