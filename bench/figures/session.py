"""Measures figures: the series of one in turns, round by round, each command by itself."""

import os
import shlex
import signal
import statistics
import subprocess
import time

from catalogue import WHOLE
from systems import SYSTEMS

# A command of a curve takes seconds; a job that hangs is not waited for.
LIMIT = 180


class Failed(Exception):
    """A command that gave no figures, with the reason."""


def run(command, environment, limit=LIMIT):
    """The command's standard output. An interrupt ends its processes first."""
    try:
        # A session of its own: an interrupt at the terminal is this program's to hand on.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment,
                                   start_new_session=True)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        end(process)
        raise Failed(f"not finished after {limit} s") from None
    except BaseException:
        end(process)
        raise
    if process.returncode != 0:
        lines = [line for line in errors.splitlines() if line.strip(" -")]
        raise Failed(f"exit status {process.returncode}" + (f": {lines[0].strip()}" if lines else ""))
    return output


def end(process):
    """Launchers end their job when they are asked to; what does not end is killed."""
    for which, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, which)
        except ProcessLookupError:
            pass
        try:
            process.communicate(timeout=patience)
            return
        except subprocess.TimeoutExpired:
            continue


def thinned(values, count, also=()):
    """Some `count` of them, evenly chosen, with the first and the last, and those of `also`."""
    values = list(values)
    if count == 0 or len(values) <= count:
        return values
    step = (len(values) - 1) / (count - 1)
    chosen = {values[round(i * step)] for i in range(count)} | set(also)
    return [value for value in values if value in chosen]


def started(figure, scale, build, cores):
    """The figure's entry in the results before anything was measured."""
    headline_at = [figure.headline.at] if figure.headline else []
    xs = list(figure.xs) if figure.categories else thinned(figure.xs, scale.sizes, headline_at)
    entry = {"name": figure.name, "title": figure.title, "paper": figure.paper,
             "network": figure.network, "x": figure.x, "categories": figure.categories, "xs": xs,
             "unit": figure.unit.name, "better": figure.unit.better, "note": figure.note,
             "rounds": 0, "of_rounds": scale.rounds, "series": [], "headline": None}
    if figure.headline:
        entry["headline"] = {"text": figure.headline.text, "paper": figure.headline.paper,
                             "one": list(figure.headline.one), "other": list(figure.headline.other),
                             "at": figure.headline.at, "why": figure.headline.why}
    for series in figure.series:
        system = SYSTEMS[series.system]
        jobs = figure.jobs(series, xs, scale)
        first = system.command(build, jobs[0].ranks, cores, jobs[0].arguments)
        words = [f"{name}={value}" for name, value in jobs[0].environment.items()]
        entry["series"].append({
            "label": series.label, "kind": series.kind, "system": system.name, "ours": system.is_ours,
            "command": shlex.join([*words, *first]), "left_out": system.missing(build) or None,
            "points": [{"x": x, "runs": []} for x in xs]})
    return entry


def measure_job(figure, series, job, build, cores, entry):
    """Runs it once, and adds a run to the points that it prints."""
    system = SYSTEMS[series.system]
    begun = time.monotonic_ns()
    output = run(system.command(build, job.ranks, cores, job.arguments),
                 {**system.environment(), **job.environment})
    took = time.monotonic_ns() - begun
    try:
        rows = {WHOLE: [took], **system.parse(output)}
    except (ValueError, KeyError) as error:
        raise Failed(f"its output is not understood: {error}") from None
    for point in entry["points"]:
        row = job.rows.get(point["x"])
        if row in rows:
            value = statistics.median(rows[row])
            point["runs"].append(figure.unit.of(value, point["x"]))


class Session:
    """Figures of a scale, measured into `results`. `changed` is called after each command, `progress` before
    each with what comes next and the seconds that are left, or None."""

    def __init__(self, figures, scale, build, cores, results, changed, progress):
        self.figures = figures
        self.scale = scale
        self.build = build
        self.cores = cores
        self.results = results
        self.changed = changed
        self.progress = progress
        self.begun = time.monotonic()
        self.total = self.done = 0

    def left(self):
        """Seconds, by what commands took so far; None at the beginning."""
        if self.done < 3:
            return None
        return (time.monotonic() - self.begun) / self.done * (self.total - self.done)

    def run(self):
        plans = []
        for figure in self.figures:
            entry = started(figure, self.scale, self.build, self.cores)
            jobs = [(series, one, figure.jobs(series, entry["xs"], self.scale))
                    for series, one in zip(figure.series, entry["series"]) if not one["left_out"]]
            plans.append((figure, entry, jobs))
            self.total += self.scale.rounds * sum(len(of_series) for _, _, of_series in jobs)
        for figure, entry, jobs in plans:
            self.results["figures"].append(entry)
            self.measure(figure, entry, jobs)

    def measure(self, figure, entry, jobs):
        for number in range(self.scale.rounds):
            # In changing order: what comes first finds another machine.
            for series, one, of_series in jobs if number % 2 == 0 else reversed(jobs):
                for job in of_series:
                    self.progress(f"{figure.name}, round {number + 1} of {self.scale.rounds}: "
                                  f"{series.label}", self.left())
                    if not one["left_out"]:
                        try:
                            measure_job(figure, series, job, self.build, self.cores, one)
                        except Failed as reason:
                            one["left_out"] = str(reason)
                    self.done += 1
                    self.changed()
            entry["rounds"] = number + 1
        for one in entry["series"]:
            one["points"] = [point for point in one["points"] if point["runs"]]
            if not one["points"] and not one["left_out"]:
                one["left_out"] = "the program has no such operation"
        self.changed()
