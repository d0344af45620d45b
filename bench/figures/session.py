"""Measures figures, round by round: the series of each in turn, each command by itself."""

import os
import shlex
import signal
import statistics
import subprocess
import sys
import time

import hosts
from parts import WHOLE
from systems import SYSTEMS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A command of a curve takes seconds; a job that hangs is not waited for.
LIMIT = 180


# Why a series has no points though nothing is wrong with it.
NO_TIME = "no time was left"


class Failed(Exception):
    """A command that gave no figures, with the reason."""


class HeldInterrupts:
    """Interrupts from its making on; the first one is raised by `release`."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self):
        self.has_come = False
        self.handlers = {which: signal.signal(which, self._hold) for which in self.SIGNALS}

    def _hold(self, *_):
        self.has_come = True

    def restore(self):
        for which, handler in self.handlers.items():
            signal.signal(which, handler)

    def release(self):
        self.restore()
        if self.has_come:
            raise KeyboardInterrupt


def run(command, environment, limit=LIMIT):
    """The command's standard output. An interrupt ends its processes first."""
    process = None
    # Until there is a process to end.
    held = HeldInterrupts()
    try:
        # A session of its own: an interrupt at the terminal is this program's to hand on.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment,
                                   start_new_session=True)
        held.release()
        output, errors = process.communicate(timeout=limit)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        end(process)
        raise Failed(f"not finished after {limit} s") from None
    except BaseException:
        if process:
            end(process)
        raise
    finally:
        held.restore()
    if process.returncode != 0:
        lines = [line for line in errors.splitlines() if line.strip(" -")]
        raise Failed(f"exit status {process.returncode}" + (f": {lines[0].strip()}" if lines else ""))
    return output


def end(process):
    """Launchers end their job when they are asked to; what does not end, or not at once for a second
    interrupt, is killed."""
    for which, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, which)
            process.communicate(timeout=patience)
            return
        except ProcessLookupError:
            process.communicate()
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
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
    kept = [*figure.keep, *([figure.headline.at] if figure.headline else [])]
    # Commands for each rank count take longer than one for all sizes.
    count = min(scale.sizes, 3) if figure.x == "ranks" else scale.sizes
    xs = list(figure.xs) if figure.categories else thinned(figure.xs_on(cores), count, kept)
    entry = {"name": figure.name, "title": figure.title, "paper": figure.paper,
             "network": figure.network, "x": figure.x, "categories": figure.categories, "xs": xs,
             "unit": figure.unit.name, "better": figure.unit.better, "note": figure.note,
             "limit": figure.limit,
             "rounds": 0, "of_rounds": scale.rounds, "series": [], "headline": None}
    if figure.headline:
        entry["headline"] = {"text": figure.headline.text, "paper": figure.headline.paper,
                             "one": list(figure.headline.one), "other": list(figure.headline.other),
                             "at": figure.headline.at, "why": figure.headline.why}
    for series in figure.series:
        system = SYSTEMS[series.system]
        jobs = figure.jobs(series, xs, scale)
        first = (hosts.shown(system, build, jobs[0].arguments, jobs[0].environment) if figure.hosts
                 else system.command(build, jobs[0].ranks, cores, jobs[0].arguments))
        words = [f"{name}={value}" for name, value in jobs[0].environment.items()]
        shown = shlex.join([*words, *first]).replace(f"{ROOT}{os.sep}", "").replace(sys.executable, "python3")
        entry["series"].append({
            "label": series.label, "kind": series.kind, "system": system.name, "ours": system.is_ours,
            "command": shown, "left_out": system.missing(build) or system.lacks() or None,
            "excused": bool(system.lacks()),
            "points": [{"x": x, "runs": []} for x in xs]})
    return entry


class Session:
    """Figures of a scale, measured into `results`, a round of all after the other. `changed` is called after
    each command, `progress` before each with what comes next and the seconds that are left, or None."""

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
        self.hosts = hosts.Pair(build)
        self.printed = {}  # of this round: what a command printed, which several figures may be of

    def left(self):
        """Seconds, by what commands took so far; None at the beginning."""
        if self.done < 3:
            return None
        passed = time.monotonic() - self.begun
        left = passed / self.done * (self.total - self.done)
        return min(left, max(0, self.scale.seconds - passed)) if self.scale.seconds else left

    def is_over(self, needed=0):
        """Returns true if there is a time limit, and it has no room for so many more seconds."""
        return 0 < self.scale.seconds < time.monotonic() - self.begun + needed

    def run(self):
        try:
            self._run()
        finally:
            self.hosts.end()

    def _run(self):
        plans = []
        for figure in self.figures:
            entry = started(figure, self.scale, self.build, self.cores)
            if figure.hosts and self.hosts.trouble():
                for one in entry["series"]:
                    one.update(left_out=self.hosts.trouble(), excused=True)
            jobs = [(series, one, figure.jobs(series, entry["xs"], self.scale))
                    for series, one in zip(figure.series, entry["series"]) if not one["left_out"]]
            plans.append((figure, entry, jobs))
            self.total += self.scale.rounds * sum(len(of_series) for _, _, of_series in jobs)
            self.results["figures"].append(entry)
        took = dict.fromkeys((figure.name for figure in self.figures), 0)
        for number in range(self.scale.rounds):
            self.printed.clear()
            for figure, entry, jobs in plans:
                count = sum(len(of_series) for _, _, of_series in jobs)
                # A round that has no room is skipped: a later figure's may be shorter.
                if self.is_over(took[figure.name]):
                    self.total -= count
                    continue
                begun = time.monotonic()
                if self.measure(figure, entry, jobs, number):
                    entry["rounds"] += 1
                took[figure.name] = time.monotonic() - begun
        for _, entry, _ in plans:
            for one in entry["series"]:
                if not any(point["runs"] for point in one["points"]) and not one["left_out"]:
                    one["left_out"] = ("the program has no such operation" if entry["rounds"]
                                       else NO_TIME)
                    one["excused"] = not entry["rounds"]
        self.changed()

    def measure(self, figure, entry, jobs, number):
        """A round of a figure; False: the time is over before its end."""
        # In changing order: what comes first finds another machine.
        for series, one, of_series in jobs if number % 2 == 0 else reversed(jobs):
            for job in of_series:
                if self.is_over():
                    return False
                self.progress(f"round {number + 1}, {figure.name}: {series.label}", self.left())
                if not one["left_out"]:
                    try:
                        self.measure_job(figure, series, job, one)
                    except Failed as reason:
                        one["left_out"] = str(reason)
                self.done += 1
                self.changed()
        return True

    def measure_job(self, figure, series, job, entry):
        """Runs it once, and adds a run to the points that it prints."""
        system = SYSTEMS[series.system]
        command = (self.hosts.command(system, job.arguments, job.environment) if figure.hosts
                   else system.command(self.build, job.ranks, self.cores, job.arguments))
        key = (*command, *sorted(job.environment.items()))
        if key not in self.printed:
            begun = time.monotonic_ns()
            output = run(command, {**system.environment(), **job.environment})
            took = time.monotonic_ns() - begun
            try:
                self.printed[key] = {WHOLE: [took], **system.parse(output)}
            except (ValueError, KeyError) as error:
                raise Failed(f"its output is not understood: {error}") from None
        rows = self.printed[key]
        for point in entry["points"]:
            row = job.rows.get(point["x"])
            if row in rows:
                point["runs"].append(figure.unit.of(statistics.median(rows[row]), point["x"]))
