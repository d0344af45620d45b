"""Figures as text: the table of the terminal, and sentences that the page has too."""

import results

STEPS = (("MiB", 1 << 20), ("KiB", 1 << 10))


def size(x, figure):
    """An x as people write it."""
    if figure["categories"] or figure["x"] != "bytes":
        return str(x)
    for unit, step in STEPS:
        if x >= step and x % step == 0:
            return f"{x // step} {unit}"
    return f"{x} B"


def number(value):
    return "-" if value is None else f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def table(figure):
    """Lines: one for each x, one column for each series that was measured."""
    measured = [series for series in figure["series"] if series["points"]]
    if not measured:
        yield f"{figure['name']}: nothing was measured"
        return
    lines = [[figure["x"], *(str(i + 1) for i in range(len(measured)))]]
    for x in results.xs(figure):
        lines.append([size(x, figure), *(number(results.point(series, x)) for series in measured)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    yield f"{figure['name']}: {figure['title']}, {figure['network']}, {figure['unit']} ({figure['paper']})"
    for line in lines:
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths))
    for i, series in enumerate(measured):
        worst = max(results.spread(point["runs"]) for point in series["points"])
        yield f"  {i + 1}: {series['label']} (spread up to {worst:.0%})"
    yield from (f"  {line}" for line in remarks(figure))


def remarks(figure):
    """Remarks on the figure: its results, and what it lacks."""
    found = results.comparisons(figure)
    ahead = [one for one in found if one[-1] >= 1]
    behind = [one for one in found if one[-1] < 1]
    if found:
        yield (f"libgex is ahead of the best peer at {len(ahead)} of {len(found)} points"
               + (f", by {min(one[-1] for one in ahead):.2f} to {max(one[-1] for one in ahead):.2f} times."
                  if ahead else "."))
    for x, _, mine, peer, ratio in behind:
        yield f"Behind at {size(x, figure)}: {peer} is {1 / ratio:.2f} times as good as {mine}."
    if figure["unit"] == "MB/s":
        yield "Nine tenths of the highest bandwidth from " + ", ".join(
            f"{size(results.saturation(series), figure)} ({series['label']})"
            for series in figure["series"] if series["points"]) + "."
    if figure.get("headline"):
        yield headline(figure)
    for series in figure["series"]:
        if series["left_out"]:
            yield f"Left out: {series['label']}: {series['left_out']}."


def here(figure):
    """The measured counterpart of the paper's headline."""
    ratio = results.headline_ratio(figure)
    if not ratio:
        return "not measured"
    where = {"mean": " on average", "bests": ", best against best"}.get(figure["headline"]["at"]) \
        or f" at {size(ratio[0], figure)}{' ranks' if figure['x'] == 'ranks' else ''}"
    return f"{ratio[1]:.2f} times{where}"


def headline(figure):
    its = figure["headline"]
    paper = "" if its["paper"] is None else f" ({its['paper']:g} times)"
    line = f"The paper: {its['text']}{paper}. Here: {here(figure)}."
    return f"{line} {its['why']}" if its["why"] else line
