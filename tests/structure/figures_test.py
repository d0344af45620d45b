#!/usr/bin/env python3
"""The driver of bench/figures: what it makes of numbers, and what becomes of a report when something is
missing, fails, or is interrupted. Programs that measure are stood in for.

    figures_test.py FIGURES_FOLDER
"""

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

FOLDER = pathlib.Path(sys.argv.pop())
sys.path.insert(0, str(FOLDER))

import catalogue  # noqa: E402  below the path
import figures  # noqa: E402
import hosts  # noqa: E402
import page  # noqa: E402
import parts  # noqa: E402
import results  # noqa: E402
import session  # noqa: E402
import shares  # noqa: E402
import systems  # noqa: E402
import text  # noqa: E402

# Prints what a program of bench/peers would: every operation takes 2 ns a byte, and 100.
STAND_IN = f"#!{sys.executable} -ISB" + """
import os, signal, sys
if "--version" in sys.argv:
    print("stand-in 1")
    sys.exit()
calls = os.path.join(os.path.dirname(__file__), "calls")
with open(calls, "a") as file:
    file.write("x")
count = os.path.getsize(calls)
if os.environ.get("INTERRUPT_AT") == str(count):
    signal.alarm(50)  # where nothing ends it
    os.kill(os.getppid(), signal.SIGINT)
    signal.pause()
for word in sys.argv:
    name, _, sizes = word.partition(":")
    if os.environ.get("FAILS") == name and sizes:
        print("peer_gex: it is broken", file=sys.stderr)
        sys.exit(3)
    for size in sizes.split(",") if sizes else []:
        print('{"row": "%s.%s", "ns": [%d, %d]}' % (name, size, 100 + 2 * int(size), 100 + 2 * int(size)))
"""


def series(label, ours, points, kind=""):
    return {"label": label, "kind": kind, "system": label, "ours": ours, "command": "", "left_out": None,
            "points": [{"x": x, "runs": runs} for x, runs in points.items()]}


def figure(*all_series, better="less", headline=None):
    xs = sorted({point["x"] for one in all_series for point in one["points"]})
    return {"name": "f", "title": "t", "paper": "p", "network": "n", "x": "bytes", "categories": False,
            "xs": xs, "unit": "us", "better": better, "note": "", "rounds": 1, "of_rounds": 1,
            "series": list(all_series), "headline": headline}


def headline(at, one=("ours",), other=("peer",)):
    return {"text": "faster", "paper": 1.5, "one": list(one), "other": list(other), "at": at, "why": ""}


class Numbers(unittest.TestCase):
    SHARES = parts.Shares("s", "t", "p", ("f",), (8,), (("put", "gex put", True), ("messages", "Isend", False)), "")

    def test_spread_is_that_of_quartiles_where_there_are_enough_runs(self):
        self.assertEqual(results.spread([5.0]), 0)
        self.assertAlmostEqual(results.spread([9.0, 10.0, 11.0]), 0.2)
        self.assertAlmostEqual(results.spread([10.0, 10.0, 10.0, 10.0, 99.0, 10.0, 10.0]), 0)

    def test_libgex_is_compared_with_the_best_peer_of_its_kind(self):
        found = results.comparisons(figure(
            series("ours", True, {8: [2.0], 64: [6.0]}, "put"),
            series("slow", False, {8: [9.0], 64: [9.0]}, "put"),
            series("fast", False, {8: [4.0], 64: [3.0]}, "put"),
            series("other", False, {8: [0.1]}, "get")))
        self.assertEqual(found, [(8, "put", "ours", "fast", 2.0), (64, "put", "ours", "fast", 0.5)])

    def test_more_is_better_in_figures_of_rates(self):
        found = results.comparisons(figure(series("ours", True, {8: [30.0]}),
                                           series("peer", False, {8: [10.0]}), better="more"))
        self.assertEqual(found[0][-1], 3)

    def test_a_peer_that_wins_is_named_with_its_size(self):
        lines = list(text.remarks(figure(series("ours", True, {4096: [6.0]}),
                                         series("peer", False, {4096: [3.0]}))))
        self.assertIn("Behind at 4 KiB: peer is 2.00 times as good as ours.", lines)

    def test_headline_of_one_size_of_the_best_and_on_average(self):
        ours = series("ours", True, {8: [1.0], 16: [1.0]})
        peer = series("peer", False, {8: [2.0], 16: [8.0]})
        for at, expected in ((8, (8, 2.0)), ("best", (16, 8.0)), ("mean", (None, 4.0)), (32, None),
                             ("bests", (None, 2.0))):
            ratio = results.headline_ratio(figure(ours, peer, headline=headline(at)))
            if expected is None:
                self.assertIsNone(ratio)
            else:
                self.assertEqual(ratio[0], expected[0])
                self.assertAlmostEqual(ratio[1], expected[1])

    def test_headline_of_a_peer_that_was_not_measured_is_no_number(self):
        one = figure(series("ours", True, {8: [1.0]}), headline=headline(8))
        self.assertIn("Here: not measured.", text.headline(one))

    def test_a_thinned_curve_keeps_its_ends_and_the_headline(self):
        sizes = list(parts.powers(8, 1 << 20))
        self.assertEqual(session.thinned(sizes, 3, [4096]), [8, 2048, 4096, 1 << 20])
        self.assertEqual(session.thinned(sizes, 0), sizes)


    def test_shares_are_of_a_series_of_a_number_and_of_the_highest(self):
        put, messages = series("gex put, a", True, {8: [2.0, 4.0]}), series("Isend", False, {8: [5.0]})
        for limit, expected in (("bare", [20.0, 40.0]), (20, [10.0, 20.0]), (parts.HIGHEST, [20.0, 40.0])):
            measured = {**figure(put, messages, series("bare", True, {8: [10.0]})), "limit": limit}
            found = shares.figure(self.SHARES, [measured])
            self.assertEqual([one["x"] for one in found["series"][0]["points"]], ["n, 8 B"])
            self.assertEqual(found["series"][0]["points"][0]["runs"], expected)
            self.assertFalse(found["series"][1]["ours"])

    def test_there_are_no_shares_of_what_was_not_measured(self):
        one = {**figure(series("gex put", True, {8: [2.0]})), "limit": "bare"}
        self.assertIsNone(shares.figure(self.SHARES, [one]))
        self.assertIsNone(shares.figure(self.SHARES, []))

    def test_the_page_has_each_headline_beside_what_was_measured_and_why_they_differ(self):
        its = {**headline(8), "why": "because < of it"}
        ours, peer = series("ours", True, {8: [1.0]}), series("peer", False, {8: [2.0]})
        lines = "".join(page.headlines({"figures": [figure(ours, peer, headline=its)]}))
        for words in ("<td>1.5 times</td><td>2.00 times at 8 B</td>", "because &lt; of it"):
            self.assertIn(words, lines)
        self.assertEqual(list(page.headlines({"figures": [figure(ours)]})), [])


class Sessions(unittest.TestCase):
    """With a clock that moves by a second in each command."""

    def run_session(self, scale, figures_of_it):
        now = [0]
        commands = []

        def run(command, environment):
            now[0] += 1
            commands.append(command)
            return "".join(f'{{"row": "{word.split(":")[0]}.{size}", "ns": [1]}}\n'
                           for word in command if ":" in word for size in word.split(":")[1].split(","))
        found = {"figures": []}
        with unittest.mock.patch.multiple(session, run=run), \
                unittest.mock.patch.object(session.time, "monotonic", lambda: now[0]), \
                unittest.mock.patch.object(systems.System, "missing", lambda self, build: ""):
            session.Session(figures_of_it, scale, "/b", 2, found, lambda: None, lambda *_: None).run()
        return found["figures"], commands

    def figure(self, name, count):
        series = tuple(parts.Series(f"{name}{i}", "gex", f"{name}{i}") for i in range(count))
        return parts.Figure(name, "t", "p", "n", (8, 64), series, parts.MICROSECONDS)

    def test_rounds_begin_as_long_as_they_end_in_time(self):
        scale = dataclasses.replace(systems.QUICK, rounds=3, seconds=10)
        found, commands = self.run_session(scale, [self.figure("a", 4), self.figure("b", 2)])
        self.assertEqual([one["rounds"] for one in found], [2, 1])
        self.assertEqual(len(commands), 10)
        self.assertEqual([len(point["runs"]) for point in found[0]["series"][0]["points"]], [2, 2])

    def test_a_figure_that_had_no_time_is_named(self):
        scale = dataclasses.replace(systems.QUICK, seconds=3)
        found, _ = self.run_session(scale, [self.figure("a", 4), self.figure("b", 1)])
        self.assertEqual(found[1]["series"][0]["left_out"], session.NO_TIME)

    def test_figures_between_hosts_are_left_out_without_fault_where_there_are_none(self):
        one = dataclasses.replace(self.figure("a", 1), hosts=True)
        with unittest.mock.patch.object(hosts.namespaces.Network, "__enter__",
                                        side_effect=hosts.namespaces.Forbidden("no root")):
            found, commands = self.run_session(systems.QUICK, [one, self.figure("b", 1)])
        self.assertEqual(len(commands), systems.QUICK.rounds)
        self.assertIn("no root", found[0]["series"][0]["left_out"])
        self.assertTrue(found[0]["series"][0]["excused"])
        self.assertFalse(found[1]["series"][0]["excused"])

    def test_every_library_starts_a_rank_on_each_of_two_hosts(self):
        of_hosts = [one for one in catalogue.FIGURES if one.hosts]
        self.assertTrue(of_hosts)
        for one in of_hosts:
            for of_figure in session.started(one, systems.TINY, "/b", 2)["series"]:
                self.assertIn("host1,host2", of_figure["command"])
                self.assertIn("RSH", of_figure["command"])

    def test_figures_by_ranks_have_a_core_for_each_where_that_is_asked_for(self):
        one = parts.Figure("a", "t", "p", "n", (2, 4, 8), (), parts.MICROSECONDS, x="ranks", on_cores=True)
        self.assertEqual([one.xs_on(cores) for cores in (1, 2, 5, 16)], [(2,), (2,), (2, 4), (2, 4, 8)])

    def test_figures_of_one_command_share_its_runs(self):
        one = self.figure("a", 1)
        found, commands = self.run_session(systems.FULL, [one, dataclasses.replace(one, name="again")])
        self.assertEqual(len(commands), systems.FULL.rounds)
        self.assertEqual([len(of["series"][0]["points"][0]["runs"]) for of in found], [5, 5])


class Catalogue(unittest.TestCase):
    def test_a_size_that_is_no_x_stands_behind_the_row(self):
        one = parts.Figure("a", "t", "p", "n", (2, 4), (), parts.MICROSECONDS, x="ranks")
        for row, argument, printed in (("barrier", "barrier:8", "barrier.8"),
                                       ("sum:1024", "sum:1024", "sum.1024")):
            arguments, rows = parts.peer_arguments(one, row, [4], systems.TINY)
            self.assertEqual((arguments[-1], rows), (argument, {4: printed}))
        self.assertEqual(parts.peer_arguments(one, parts.MEMORY, [4], systems.TINY), ([], {4: "memory"}))

    def test_memory_is_printed_in_bytes_and_time_in_nanoseconds(self):
        self.assertEqual(systems.rows_of_lines('{"row": "memory", "bytes": [5]}\n{"row": "a.8", "ns": [1, 2]}'),
                         {"memory": [5], "a.8": [1, 2]})

    def test_what_all_ranks_of_ft_compute_is_their_time_without_communication(self):
        variant = {"variant": "slabs", "verified": True, "seconds": 5, "starting": {"average": 1},
                   "waiting": {"average": 2}}
        self.assertEqual(systems.rows_of_ft(json.dumps({"ranks": 4, "variants": [variant]})),
                         {"slabs.seconds": [5], "slabs.communication": [3], "slabs.work": [8]})
        with self.assertRaises(ValueError):
            systems.rows_of_ft(json.dumps({"ranks": 4, "variants": [{**variant, "verified": False}]}))

    def test_every_series_has_a_system_and_rows_for_all_its_points(self):
        for one in catalogue.FIGURES:
            for scale in figures.SCALES.values():
                xs = session.started(one, scale, "/nowhere", 2)["xs"]
                for of_figure in one.series:
                    self.assertIn(of_figure.system, systems.SYSTEMS)
                    jobs = one.jobs(of_figure, xs, scale)
                    self.assertEqual([x for job in jobs for x in job.rows], xs, one.name)

    def test_commands_of_gexperf_name_its_rows(self):
        found = [(one, of_figure) for one in catalogue.FIGURES for of_figure in one.series
                 if isinstance(systems.SYSTEMS[of_figure.system], systems.Gexperf)]
        self.assertTrue(found)
        for one, of_figure in found:
            for job in one.jobs(of_figure, list(one.xs), systems.TINY):
                self.assertLessEqual({row.removesuffix(".limit") for row in job.rows.values()},
                                     set(job.arguments), one.name)
                self.assertIn("--json", job.arguments)

    def test_names_are_unique_and_headlines_are_of_series(self):
        names = [one.name for one in catalogue.FIGURES]
        self.assertEqual(len(names), len(set(names)))
        for one in catalogue.FIGURES:
            labels = [of_figure.label for of_figure in one.series]
            self.assertEqual(len(labels), len(set(labels)), one.name)
            if isinstance(one.limit, str):
                self.assertIn(one.limit, [*labels, parts.HIGHEST])
            if one.headline:
                self.assertLessEqual({*one.headline.one, *one.headline.other}, set(labels), one.name)
                self.assertTrue(one.headline.why, one.name)
                if not isinstance(one.headline.at, str) or one.categories:
                    self.assertIn(one.headline.at, {*one.xs, "best", "mean", "bests"})


class Reports(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.report = self.folder / "report"
        (self.folder / "bin").mkdir()
        for name in ("gexrun", "peer_gex", "peer_openmpi"):
            self.program(f"bin/{name}")

    def program(self, name):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(STAND_IN)
        path.chmod(0o755)

    def run_figures(self, *arguments, names=("put-get-latency-shm",), preexec=None, **variables):
        """Without launchers of peers in PATH, but for those of the test."""
        path = f"{self.folder}/launchers:{os.path.dirname(sys.executable)}:/bin"
        return subprocess.run(
            [sys.executable, "-B", FOLDER / "figures.py", "--scale", "tiny", "--build", self.folder,
             "--report", self.report, "--no-pictures", *arguments, *names],
            env={"PATH": path if "PATH" not in variables else variables["PATH"], **variables},
            capture_output=True, text=True, timeout=60, preexec_fn=preexec)

    def results(self):
        return json.loads((self.report / "results.json").read_text())

    def test_peers_are_measured_beside_libgex_and_missing_ones_are_named(self):
        self.program("launchers/mpirun.openmpi")
        done = self.run_figures(PATH=f"{self.folder}/launchers:{os.path.dirname(sys.executable)}")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.results()
        self.assertEqual(found["state"], "complete")
        by_label = {one["label"]: one for one in found["figures"][0]["series"]}
        self.assertEqual(by_label["Open MPI MPI_Put, flush"]["points"][0], {"x": 8, "runs": [0.116]})
        self.assertIn("mpirun.mpich is not installed (Debian: mpich",
                      by_label["MPICH MPI_Put, flush"]["left_out"])
        page = (self.report / "index.html").read_text()
        self.assertIn("Left out: MPICH MPI_Put, flush: mpirun.mpich is not installed", page)
        self.assertIn("Left out: MPICH MPI_Put, flush", done.stdout)

    def test_a_command_that_fails_leaves_a_line_and_the_others_go_on(self):
        done = self.run_figures("--libgex-alone", FAILS="put")
        self.assertEqual(done.returncode, 1)
        self.assertIn("figures: of libgex was not measured: put-get-latency-shm, libgex put: exit status 3",
                      done.stderr)
        puts, gets = self.results()["figures"][0]["series"]
        self.assertEqual(puts["left_out"], "exit status 3: peer_gex: it is broken")
        self.assertEqual(len(gets["points"]), 2)

    def test_an_interrupt_leaves_a_report_of_what_was_measured(self):
        names = ("put-get-latency-shm", "flood-bandwidth-shm")
        # As in the background of a shell's script.
        done = self.run_figures("--libgex-alone", names=names, INTERRUPT_AT="2",
                                preexec=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertIn("figures: interrupted; the report has what was measured", done.stderr)
        found = self.results()
        self.assertEqual(found["state"], "partial")
        self.assertEqual([len(one["points"]) for figure in found["figures"] for one in figure["series"]],
                         [2, 0, 0, 0, 0])
        self.assertIn("This report is partial.", (self.report / "index.html").read_text())

    def test_figures_of_the_report_are_kept_where_that_is_asked_for(self):
        self.run_figures("--libgex-alone", names=("sum-shm",))
        self.run_figures("--libgex-alone", "--keep", names=("put-get-latency-shm",), INTERRUPT_AT="4")
        self.assertEqual([one["name"] for one in self.results()["figures"]], ["put-get-latency-shm", "sum-shm"])
        self.run_figures("--libgex-alone", names=("sum-shm",))
        self.assertEqual([one["name"] for one in self.results()["figures"]], ["sum-shm"])

    def test_figures_without_time_leave_a_partial_report_and_are_no_failure(self):
        done = self.run_figures("--libgex-alone", "--seconds", "1e-9")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.results()["state"], "partial")
        self.assertIn("no time was left", (self.report / "index.html").read_text())

    def test_a_full_disk_is_one_line_and_keeps_the_last_results(self):
        self.report.mkdir()
        (self.report / "results.json").write_text("before")
        (self.report / "results.json.new").symlink_to("/dev/full")
        done = self.run_figures("--libgex-alone")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("figures: cannot write the report: ", done.stderr)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual((self.report / "results.json").read_text(), "before")

    def test_a_folder_that_cannot_be_made_is_one_line(self):
        self.report = pathlib.Path("/proc/report")
        done = self.run_figures("--libgex-alone")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("figures: cannot write the report: /proc/report: ", done.stderr)

    def test_wrong_command_lines_are_one_line(self):
        for arguments, line in (((["no-such"],), "there is no figure 'no-such'"),
                                ((["put-get-latency-shm", "--build", "/nowhere"],),
                                 "/nowhere/bin/gexrun is missing")):
            done = self.run_figures(names=arguments[0])
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(line, done.stderr)

    def test_drawing_needs_results_of_this_form(self):
        self.report.mkdir()
        for content in ("{}", "no JSON"):
            (self.report / "results.json").write_text(content)
            done = self.run_figures("--draw")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn("results.json: ", done.stderr)

    def test_pictures_are_drawn_where_matplotlib_is_and_missed_in_a_line_elsewhere(self):
        self.run_figures("--libgex-alone")
        trouble = figures.draw(self.report)
        if trouble:
            self.assertIn("matplotlib is missing (Debian: python3-matplotlib)", trouble)
        self.assertEqual((self.report / "put-get-latency-shm.svg").exists(), not trouble)
        pythons, figures.PYTHONS = figures.PYTHONS, ("/bin/false",)
        self.addCleanup(setattr, figures, "PYTHONS", pythons)
        self.assertIn("matplotlib is missing", figures.draw(self.report))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            figures.report(results.read(self.report / "results.json"), self.report, True)
        self.assertIn("figures: there are no pictures: matplotlib is missing", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
