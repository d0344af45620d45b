"""report/index.html: each figure with its picture, its numbers and what they show."""

import html
import os

import results
import text

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #111; }
img { max-width: 100%; } pre { overflow-x: auto; font-size: 13px; }
table { border-collapse: collapse; font-size: 14px; } td, th { padding: .15em .8em; text-align: right; }
th { border-bottom: 1px solid #999; } caption { text-align: left; }
"""


def picture(figure, folder):
    """What there is of both forms: a report that is kept may have one alone."""
    files = [name for name in (f"{figure['name']}.svg", f"{figure['name']}.png")
             if os.path.exists(os.path.join(folder, name))]
    if not files:
        return ["<p>There is no picture: matplotlib is missing (Debian: python3-matplotlib); "
                "<code>bench/figures/figures.py --draw</code> draws it later.</p>"]
    links = "".join(f' (<a href="{name}">PNG</a>)' for name in files[1:])
    alt = html.escape(f"{figure['title']}, {figure['network']}", quote=True)
    return [f'<p><img src="{files[0]}" alt="{alt}">{links}</p>']


def numbers(figure):
    measured = [series for series in figure["series"] if series["points"]]
    yield f"<details><summary>Numbers, {html.escape(figure['unit'])}</summary><table><tr>"
    yield f"<th>{html.escape(figure['x'])}</th>"
    yield from (f"<th>{html.escape(series['label'])}</th>" for series in measured)
    yield "</tr>"
    for x in results.xs(figure):
        yield f"<tr><td>{html.escape(text.size(x, figure))}</td>"
        yield from (f"<td>{text.number(results.point(series, x))}</td>" for series in measured)
        yield "</tr>"
    yield "</table></details><details><summary>Commands</summary><pre>"
    yield "\n".join(html.escape(f"{series['label']}: {series['command']}") for series in figure["series"])
    yield "</pre></details>"


def section(figure, folder):
    yield f'<h2 id="{figure["name"]}">{html.escape(figure["title"])}: {html.escape(figure["network"])}</h2>'
    yield f"<p>{html.escape(figure['paper'])}. {html.escape(figure['note'])}</p>"
    if not any(series["points"] for series in figure["series"]):
        yield "<p>Nothing was measured.</p>"
    else:
        yield from picture(figure, folder)
    yield from (f"<p>{html.escape(line)}</p>" for line in text.remarks(figure))
    yield from numbers(figure)


def contents(found):
    yield "<table><caption>What the papers found, and what was found here</caption>"
    yield "<tr><th>figure</th><th>paper</th><th>here</th><th>ahead of peers</th></tr>"
    for figure in found["figures"]:
        ratio = results.headline_ratio(figure)
        its = figure["headline"]
        compared = results.comparisons(figure)
        ahead = sum(1 for one in compared if one[-1] >= 1)
        yield (f'<tr><td style="text-align:left"><a href="#{figure["name"]}">'
               f'{html.escape(figure["title"])}, {html.escape(figure["network"])}</a></td>'
               f"<td>{format(its['paper'], 'g') + ' times' if its and its['paper'] else ''}</td>"
               f"<td>{format(ratio[1], '.2f') + ' times' if ratio else ''}</td>"
               f"<td>{f'{ahead} of {len(compared)} points' if compared else ''}</td></tr>")
    yield "</table>"


def page(found, folder):
    yield '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
    yield f"<title>libgex: the papers' figures</title><style>{STYLE}</style></head><body>"
    yield "<h1>The papers' figures, measured here</h1>"
    state = "" if found["state"] == "complete" else f" <strong>This report is {found['state']}.</strong>"
    yield (f"<p>{html.escape(found['machine'])}, {html.escape(found['begun'])}, scale {found['scale']}."
           f"{state}</p>")
    yield f"<p><code>{html.escape(found['command'])}</code></p><ul>"
    yield from (f"<li>{html.escape(name)}: {html.escape(version)}</li>"
                for name, version in found["versions"].items())
    yield ("</ul><p>Programs run in turns, each round in another order; a point is the median of its runs. "
           "Nothing is tuned, neither libgex nor its peers. In pictures lines of libgex are solid, bars "
           "show all runs. <em>Ahead</em> is the ratio of the best of libgex to the best peer.</p>")
    yield from contents(found)
    for figure in found["figures"]:
        yield from section(figure, folder)
    yield "</body></html>"


def write(found, folder):
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write("\n".join(page(found, folder)) + "\n")
