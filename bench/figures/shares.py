"""Bandwidths of several figures at some of their sizes, as shares of each figure's limit: a figure that follows
from theirs and is not measured."""

import results
import text
from parts import HIGHEST


def limit(figure, x):
    """The limit of a figure in its own unit at one of its x's. None: it was not measured."""
    its = figure.get("limit")
    if not isinstance(its, str):
        return its
    if its == HIGHEST:
        medians = [results.median(point["runs"]) for series in figure["series"] for point in series["points"]]
        return max(medians, default=None)
    of_limit = [series for series in figure["series"] if series["label"] == its]
    return results.point(of_limit[0], x) if of_limit else None


def best(figure, part, x):
    """The point with the highest bandwidth of the series that have `part` in their labels."""
    points = [point for series in figure["series"] if part in series["label"] for point in series["points"]
              if point["x"] == x and point["runs"]]
    return max(points, key=lambda point: results.median(point["runs"]), default=None)


def figure(shares, measured):
    """The figure of what was measured, or None if that is nothing of it."""
    by_name = {one["name"]: one for one in measured}
    its = [by_name[name] for name in shares.figures if name in by_name]
    xs = {(one["name"], x): f"{one['network'].split(',')[0]}, {text.size(x, one)}" for one in its
          for x in shares.at if limit(one, x)}
    entry = {"name": shares.name, "title": shares.title, "paper": shares.paper,
             "network": "three networks", "x": "network", "categories": True,
             "xs": list(xs.values()), "unit": "% of the limit", "better": "more", "note": shares.note,
             "limit": None, "rounds": 0, "of_rounds": 0, "series": [], "headline": None}
    for label, part, is_ours in shares.series:
        points = []
        for one in its:
            for x in shares.at:
                found = best(one, part, x)
                if found and (one["name"], x) in xs:
                    points.append({"x": xs[one["name"], x],
                                   "runs": [100 * run / limit(one, x) for run in found["runs"]]})
        entry["series"].append({"label": label, "kind": "", "system": label, "ours": is_ours,
                                "command": "the figures of flood bandwidth have them", "left_out": None,
                                "excused": False, "points": points})
    return entry if any(series["points"] for series in entry["series"]) else None
