"""Measured results: how they are kept, and what follows from them. No other file has its form."""

import json
import math
import os
import statistics

FORMAT = "libgex figures 1"


def write(path, results):
    """All of it, or the file that was there before: never a part."""
    beside = f"{path}.new"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
        os.replace(beside, path)
    except OSError:
        try:
            os.unlink(beside)
        except OSError:
            pass
        raise


def read(path):
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise ValueError(f"it does not hold {FORMAT!r}")
    return results


def median(runs):
    return statistics.median(runs)


def spread(runs):
    """The distance of the quartiles over the median; of less than four runs, that of all."""
    middle = statistics.median(runs)
    if len(runs) < 2 or middle == 0:
        return 0.0
    if len(runs) < 4:
        return (max(runs) - min(runs)) / middle
    low, _, high = statistics.quantiles(runs, n=4)
    return (high - low) / middle


def point(series, x):
    """The median there, or None."""
    for one in series["points"]:
        if one["x"] == x:
            return median(one["runs"])
    return None


def xs(figure):
    """All that some series was measured at, in the order of the catalogue."""
    measured = {one["x"] for series in figure["series"] for one in series["points"]}
    return [x for x in figure["xs"] if x in measured]


def saturation(series):
    """The least x at which a bandwidth is at least nine tenths of its highest."""
    highest = max(median(one["runs"]) for one in series["points"])
    return min(one["x"] for one in series["points"] if median(one["runs"]) >= 0.9 * highest)


def times_better(figure, ours, other):
    """How many times as good `ours` is as `other`."""
    return other / ours if figure["better"] == "less" else ours / other


def comparisons(figure):
    """For each x and kind that libgex and a peer were both measured at: (x, kind, the best of libgex, the
    best peer, how many times as good libgex is)."""
    found = []
    kinds = list(dict.fromkeys(series["kind"] for series in figure["series"]))
    best = min if figure["better"] == "less" else max
    for x in xs(figure):
        for kind in kinds:
            of_kind = [series for series in figure["series"]
                       if series["kind"] == kind and point(series, x) is not None]
            ours = [series for series in of_kind if series["ours"]]
            peers = [series for series in of_kind if not series["ours"]]
            if not ours or not peers:
                continue
            mine = best(ours, key=lambda series: point(series, x))
            peer = best(peers, key=lambda series: point(series, x))
            found.append((x, kind, mine["label"], peer["label"],
                          times_better(figure, point(mine, x), point(peer, x))))
    return found


def ratio_of_bests(figure, series):
    """Each of the headline's two at the x where it is best."""
    best = min if figure["better"] == "less" else max
    values = []
    for labels in (figure["headline"]["one"], figure["headline"]["other"]):
        found = [median(one["runs"]) for label in labels if label in series
                 for one in series[label]["points"] if one["runs"]]
        if not found:
            return None
        values.append(best(found))
    return None, times_better(figure, *values)


def headline_ratio(figure):
    """The paper's headline, measured here: the x (None: not of one), and how many times as good one series is
    as another. None if it was not measured."""
    headline = figure.get("headline")
    if not headline:
        return None
    series = {one["label"]: one for one in figure["series"]}
    if headline["at"] == "bests":
        return ratio_of_bests(figure, series)
    # The best of several where the headline is of the best.
    best = min if figure["better"] == "less" else max
    ratios = []
    for x in xs(figure):
        values = []
        for labels in (headline["one"], headline["other"]):
            here = [point(series[label], x) for label in labels if label in series]
            here = [value for value in here if value is not None]
            values.append(best(here) if here else None)
        if None not in values and all(values):
            ratios.append((x, times_better(figure, *values)))
    if not ratios:
        return None
    if headline["at"] == "best":
        return max(ratios, key=lambda one: one[1])
    if headline["at"] == "mean":
        return (None, math.exp(statistics.fmean(math.log(ratio) for _, ratio in ratios)))
    return next((one for one in ratios if one[0] == headline["at"]), None)
