#!/usr/bin/env python3
"""Measures the papers' figures on this machine, libgex beside its peers, and writes a report.

    bench/figures/figures.py                    all figures, into report/index.html
    bench/figures/figures.py --scale quick      in less than five minutes
    bench/figures/figures.py NAME...            these figures; --list prints them
    bench/figures/figures.py --keep NAME...     these anew, and the others of the report as they are
    bench/figures/figures.py --draw             pictures and page once more, of report/results.json

report/results.json is written as measurements end.
"""

import argparse
import dataclasses
import datetime
import importlib.machinery
import importlib.util
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import catalogue
import page
import parts
import results
import session
import shares
import systems
import text

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCALES = {scale.name: scale for scale in (systems.FULL, systems.QUICK, systems.TINY)}
# Debian's has the modules of its packages, where another one comes first in PATH.
PYTHONS = (sys.executable, "/usr/bin/python3")


def fail(reason, status=1):
    print(f"figures: {reason}", file=sys.stderr)
    sys.exit(status)


def this_machine():
    """In one line, as tools/draw-gexperf has it."""
    loader = importlib.machinery.SourceFileLoader("draw_gexperf", str(ROOT / "tools/draw-gexperf"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_gexperf", loader))
    loader.exec_module(module)
    return module.this_machine()


def cores():
    """Processors that ranks can be bound to."""
    return len(os.sched_getaffinity(0))


class Progress:
    """One line that changes on a terminal; elsewhere a line for each round."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.last = ""

    def __call__(self, what, left):
        line = what if left is None else f"{what} ({minutes(left)} left)"
        if self.terminal:
            print(f"\r\033[K{line[:100]}", end="", file=sys.stderr, flush=True)
        elif what.split(":")[0] != self.last:
            print(line, file=sys.stderr, flush=True)
        self.last = what.split(":")[0]

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def draw(folder):
    """Runs pictures.py by a Python that has matplotlib; why there are no pictures, or nothing."""
    for python in dict.fromkeys(PYTHONS):
        if subprocess.run([python, "-c", "import matplotlib"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            drawn = subprocess.run([python, "-B", str(HERE / "pictures.py"), str(folder)],
                                   stderr=subprocess.PIPE, text=True, check=False)
            lines = drawn.stderr.strip().splitlines()
            return f"pictures are missing: {lines[-1]}" if drawn.returncode != 0 and lines else ""
    return "there are no pictures: matplotlib is missing (Debian: python3-matplotlib)"


def report(found, folder, with_pictures):
    """The page, and before it the pictures that it shows."""
    trouble = draw(folder) if with_pictures else ""
    page.write(found, folder)
    if trouble:
        print(f"figures: {trouble}", file=sys.stderr)
    print(f"{folder / 'index.html'}: {sum(1 for figure in found['figures'] if results.xs(figure))} figures, "
          f"{found['state']}")


def measure(options, chosen):
    folder = options.report
    file = folder / "results.json"
    build = str(options.build)
    found = {"format": results.FORMAT, "state": "partial",
             "begun": datetime.datetime.now().isoformat(timespec="seconds"),
             "machine": this_machine(), "scale": options.scale, "load_before": os.getloadavg()[0],
             "command": shlex.join(["bench/figures/figures.py", *sys.argv[1:]]),
             "versions": versions(build, catalogue.FIGURES if options.keep else chosen),
             "figures": kept_figures(file, chosen) if options.keep else []}
    kept = len(found["figures"])
    folder.mkdir(parents=True, exist_ok=True)
    results.write(file, found)
    progress = Progress()

    def changed():
        results.write(file, found)

    # What ends programs ends this one as an interrupt does. Shells have their background ignore those.
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, signal.default_int_handler)
    status = 0
    try:
        scale = SCALES[options.scale]
        if options.seconds is not None:
            scale = dataclasses.replace(scale, seconds=options.seconds)
        session.Session(chosen, scale, build, cores(), found, changed, progress).run()
        if not any(series["left_out"] == session.NO_TIME for _, series in all_series(found["figures"])):
            found["state"] = "complete"
    except KeyboardInterrupt:
        progress.clear()
        print("figures: interrupted; the report has what was measured", file=sys.stderr)
        # Further interrupts would end the report that this one asks for.
        for which in (signal.SIGINT, signal.SIGTERM):
            signal.signal(which, signal.SIG_IGN)
        status = 130
    progress.clear()
    for _, series in all_series(found["figures"]):
        series["points"] = [point for point in series["points"] if point["runs"]]
    measured = found["figures"][kept:]
    follows = shares.figure(catalogue.SHARES, found["figures"])
    for figure in [*measured, *([follows] if follows else [])]:
        print("\n".join(text.table(figure)), flush=True)
    order = [figure.name for figure in catalogue.FIGURES]
    found["figures"].sort(key=lambda figure: order.index(figure["name"]))
    if follows:
        of_it = [figure["name"] in catalogue.SHARES.figures for figure in found["figures"]]
        found["figures"].insert(len(of_it) - of_it[::-1].index(True), follows)
    results.write(file, found)
    report(found, folder, not options.no_pictures)
    for figure, series in all_series(measured):
        if series["ours"] and series["left_out"] and not series["excused"]:
            print(f"figures: of libgex was not measured: {figure['name']}, {series['label']}: "
                  f"{series['left_out']}", file=sys.stderr)
            status = status or 1
    return status


def all_series(figures):
    """Pairs of a figure and one of its series."""
    return [(figure, series) for figure in figures for series in figure["series"]]


def kept_figures(file, chosen):
    """Figures of a report that are not measured anew, as far as the catalogue still has them."""
    if not file.exists():
        return []
    known = {figure.name for figure in catalogue.FIGURES} - {figure.name for figure in chosen}
    return [figure for figure in results.read(file)["figures"] if figure["name"] in known]


def versions(build, chosen):
    """The versions of the systems of all figures, as their launchers print them."""
    of_systems = {}
    for series in (series for figure in chosen for series in figure.series):
        system = systems.SYSTEMS[series.system]
        if system.name not in of_systems and not system.missing(build):
            of_systems[system.name] = system.version(build)
    if "libgex" in of_systems:
        of_systems["libgex"] += commit()
    return of_systems


def commit():
    """The commit of this folder; empty where it is of none."""
    try:
        described = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty=, changed"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return f", {described.stdout.strip()}" if described.returncode == 0 else ""


def choose(names, only, one_host):
    figures = {figure.name: figure for figure in catalogue.FIGURES}
    unknown = [name for name in names if name not in figures]
    if unknown:
        fail(f"there is no figure {unknown[0]!r}; --list prints their names", 2)
    chosen = [figures[name] for name in names] if names else list(figures.values())
    if one_host:
        chosen = [figure for figure in chosen if not figure.hosts]
    if not only:
        return chosen
    kept = []
    for figure in chosen:
        series = tuple(one for one in figure.series if systems.SYSTEMS[one.system].is_ours)
        if series:
            kept.append(parts.without_peers(figure, series))
    return kept


def parse_options():
    parser = argparse.ArgumentParser(
        prog="figures", description="Measures the papers' figures here, libgex beside its peers.",
        epilog="An interrupt ends with a report of what there is by then. Exit status: 0; 1 where "
               "something of libgex could not be measured or the report not be written; 2 for a wrong "
               "command line; 130 after an interrupt.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the figures")
    parser.add_argument("--scale", choices=SCALES, default="full",
                        help="quick: in less than five minutes; tiny: that everything runs, not how fast")
    parser.add_argument("--seconds", type=float,
                        help="begin nothing after so many (default: the scale's limit)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release",
                        help="the build's folder (default: %(default)s)")
    parser.add_argument("--report", type=pathlib.Path, default=pathlib.Path("report"),
                        help="the report's folder (default: %(default)s)")
    parser.add_argument("--libgex-alone", action="store_true", help="measure no peers")
    parser.add_argument("--one-host", action="store_true",
                        help="measure nothing between hosts of namespaces")
    parser.add_argument("--keep", action="store_true", help="keep the report's figures that are not named")
    parser.add_argument("--no-pictures", action="store_true", help="write numbers and page alone")
    parser.add_argument("--draw", action="store_true",
                        help="measure nothing: draw the report's results.json once more")
    return parser.parse_args()


def main():
    options = parse_options()
    chosen = choose(options.names, options.libgex_alone, options.one_host)
    if options.list:
        for figure in chosen:
            print(f"{figure.name:28} {figure.title}, {figure.network} ({figure.paper})")
        return 0
    try:
        if options.draw:
            report(results.read(options.report / "results.json"), options.report, True)
            return 0
        if not os.access(options.build / "bin/gexrun", os.X_OK):
            fail(f"{options.build}/bin/gexrun is missing: build first (make), or name the build's folder "
                 "with --build", 2)
        return measure(options, chosen)
    except OSError as error:
        fail(f"cannot write the report: {error.filename or options.report}: {error.strerror}")
    except ValueError as error:
        fail(f"{options.report / 'results.json'}: {error}")


if __name__ == "__main__":
    sys.exit(main())
