#!/usr/bin/env python3
"""Draws the figures of a results.json as PNG and SVG, one for each, into its folder.

    pictures.py FOLDER

A program of its own: it needs matplotlib, which nothing else here does.
"""

import os
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402  behind the choice of what draws

import results  # noqa: E402
import text  # noqa: E402

# Okabe and Ito's colours, which differ for colour-blind people too; in print markers do.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "osD^vPX*<>"


def style(number, series):
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
            "linestyle": "-" if series["ours"] else "--", "linewidth": 1.8 if series["ours"] else 1.2,
            "markersize": 5, "label": series["label"], "capsize": 2}


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
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = results.xs(figure)
    axes.set_xticks(ticks[::max(1, len(ticks) // 10)])
    axes.xaxis.set_major_formatter(
        ticker.FuncFormatter(lambda x, _: text.size(int(x), figure).replace(" ", "\u00a0")))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:g}"))


def bars(axes, figure, measured):
    names = results.xs(figure)
    width = 0.8 / len(measured)
    for number, series in enumerate(measured):
        xs, medians, reach = values(series)
        at = [names.index(x) + (number - (len(measured) - 1) / 2) * width for x in xs]
        axes.bar(at, medians, width, yerr=reach, capsize=2, color=COLOURS[number % len(COLOURS)],
                 hatch="" if series["ours"] else "//", edgecolor="white", label=series["label"])
    axes.set_xticks(range(len(names)), [str(name) for name in names])


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
