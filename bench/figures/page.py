"""report/index.html: each figure with its picture, its numbers and what they show."""

import html
import os

import results
import text

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #111;
  overflow-wrap: break-word; }
img { max-width: 100%; height: auto; } pre { overflow-x: auto; font-size: 13px; }
div { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
td, th { padding: .15em .8em; text-align: right; vertical-align: top; }
td.text, th.text { text-align: left; min-width: 11em; }
th { border-bottom: 1px solid #999; } caption { text-align: left; }
"""


def picture(figure, folder):
    """Links to both forms: a report that is kept may have one alone."""
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
    yield f"<details><summary>Numbers, {html.escape(figure['unit'])}</summary><div><table><tr>"
    yield f"<th>{html.escape(figure['x'])}</th>"
    yield from (f"<th>{html.escape(series['label'])}</th>" for series in measured)
    yield "</tr>"
    for x in results.xs(figure):
        yield f"<tr><td>{html.escape(text.size(x, figure))}</td>"
        yield from (f"<td>{text.number(results.point(series, x))}</td>" for series in measured)
        yield "</tr>"
    yield "</table></div></details><details><summary>Commands</summary><pre>"
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


def link(figure):
    return (f'<a href="#{figure["name"]}">'
            f"{html.escape(figure['title'])}, {html.escape(figure['network'])}</a>")


def headlines(found):
    """The results that the papers are known for, each beside what was measured here."""
    of_figures = [figure for figure in found["figures"] if figure["headline"]]
    if not of_figures:
        return
    yield "<div><table><caption>What the papers found, and what was found here</caption>"
    yield ('<tr><th class="text">the paper</th><th>its number</th><th>here</th><th class="text">figure</th>'
           '<th class="text">where and why they differ</th></tr>')
    for figure in sorted(of_figures, key=lambda one: (one["paper"].split(":")[0], one["headline"]["text"])):
        its = figure["headline"]
        yield (f'<tr><td class="text">{html.escape(its["text"])}</td>'
               f"<td>{format(its['paper'], 'g') + ' times' if its['paper'] else '-'}</td>"
               f"<td>{html.escape(text.here(figure))}</td>"
               f'<td class="text">{link(figure)}</td><td class="text">{html.escape(its["why"])}</td></tr>')
    yield "</table></div>"


def contents(found):
    yield "<div><table><caption>Figures</caption>"
    yield '<tr><th class="text">figure</th><th>ahead of peers</th><th>rounds</th></tr>'
    for figure in found["figures"]:
        compared = results.comparisons(figure)
        ahead = sum(1 for one in compared if one[-1] >= 1)
        yield (f'<tr><td class="text">{link(figure)}</td>'
               f"<td>{f'{ahead} of {len(compared)} points' if compared else ''}</td>"
               f"<td>{figure['rounds'] or ''}</td></tr>")
    yield "</table></div>"


def page(found, folder):
    yield '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
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
    yield from headlines(found)
    yield from contents(found)
    for figure in found["figures"]:
        yield from section(figure, folder)
    yield "</body></html>"


def write(found, folder):
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write("\n".join(page(found, folder)) + "\n")
