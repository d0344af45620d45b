#!/usr/bin/env python3
"""Draws the figures of a results.json as PNG and SVG, one for each, into its folder.

    pictures.py FOLDER

A program of its own: it needs matplotlib, which nothing else here does.
"""

import math
import os
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402  behind the choice of what draws

import results  # noqa: E402
import text  # noqa: E402

# Okabe and Ito's colours, which differ for colour-blind people too; in print markers and hatches do.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "osD^vPX*<>"
HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo")
MAX_TICKS = 12


def style(number, series):
    """Lines of libgex are solid with filled markers, those of peers are not."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
            "linestyle": "-" if series["ours"] else "--", "linewidth": 1.8 if series["ours"] else 1.2,
            "markersize": 5.5, "label": series["label"], "capsize": 2,
            **({} if series["ours"] else {"markerfacecolor": "white"})}


def values(series):
    """The x's, the medians, and how far runs reach below and above them."""
    xs = [point["x"] for point in series["points"]]
    medians = [results.median(point["runs"]) for point in series["points"]]
    below = [median - min(point["runs"]) for median, point in zip(medians, series["points"])]
    above = [max(point["runs"]) - median for median, point in zip(medians, series["points"])]
    return xs, medians, [below, above]


def curves(axes, figure, measured):
    for number, series in enumerate(measured):
        xs, medians, reach = values(series)
        axes.errorbar(xs, medians, yerr=reach, **style(number, series))
    axes.set_yscale("log")
    xs = results.xs(figure)
    positive = [x for x in xs if x > 0]
    # Beside a logarithm there is room for 0.
    if positive == xs:
        axes.set_xscale("log", base=2)
    else:
        axes.set_xscale("symlog", base=2, linthresh=positive[0])
    axes.set_xticks(apart(xs))
    axes.xaxis.set_major_formatter(
        ticker.FuncFormatter(lambda x, _: text.size(int(x), figure).replace(" ", "\u00a0")))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    low, high = axes.get_ylim()
    if high < 50 * low:
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:g}"))


def apart(xs):
    """The x's whose names have room beside each other."""
    span = math.log2(max(xs) / max(1, xs[0]))
    chosen = xs[:1]
    for x in xs[1:]:
        if chosen[-1] == 0 or math.log2(x / chosen[-1]) >= span / MAX_TICKS:
            chosen.append(x)
    return chosen


def bars(axes, figure, measured):
    names = results.xs(figure)
    width = 0.8 / max(2, len(measured))
    for number, series in enumerate(measured):
        xs, medians, reach = values(series)
        at = [names.index(x) + (number - (len(measured) - 1) / 2) * width for x in xs]
        axes.bar(at, medians, width, yerr=reach, capsize=2, color=COLOURS[number % len(COLOURS)],
                 hatch=HATCHES[number % len(HATCHES)], edgecolor="white", label=series["label"])
    heights = [results.median(point["runs"]) for series in measured for point in series["points"]]
    if max(heights) > 20 * min(heights) > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:g}"))
    axes.set_xticks(range(len(names)), [str(name).replace(", ", ",\n") for name in names])


def draw(found, figure, folder):
    measured = [series for series in figure["series"] if series["points"]]
    canvas, axes = pyplot.subplots(figsize=(9, 5))
    (bars if figure["categories"] else curves)(axes, figure, measured)
    axes.set_xlabel(figure["x"])
    axes.set_ylabel(f"{figure['unit']} ({figure['better']} is better)")
    axes.set_title(f"{figure['title']}: {figure['network']}", fontsize=11)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    canvas.text(0.01, 0.005, f"{found['machine']}, {found['begun'][:10]}", fontsize=6, color="#555555")
    for kind in ("svg", "png"):
        canvas.savefig(os.path.join(folder, f"{figure['name']}.{kind}"), dpi=110, bbox_inches="tight",
                       metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(canvas)


def main():
    folder = sys.argv[1]
    # Text stays text, and ids are chosen alike each time.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "libgex", "font.size": 9})
    found = results.read(os.path.join(folder, "results.json"))
    for figure in found["figures"]:
        if any(series["points"] for series in figure["series"]):
            draw(found, figure, folder)


if __name__ == "__main__":
    main()
