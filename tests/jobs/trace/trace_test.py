#!/usr/bin/env python3
"""Runs jobs that are traced, and compares what gextrace finds with what the programs counted.

    trace_test.py [TestClass...]

The environment names the programs (GEXRUN, GEXTRACE, TRACE_CLIENT_SEQ, TRACE_CLIENT_PAR)
and what reaches hosts (RSH_HERE).
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

GEXRUN = os.environ["GEXRUN"]
GEXTRACE = os.environ["GEXTRACE"]
SEQ = os.environ["TRACE_CLIENT_SEQ"]
PAR = os.environ["TRACE_CLIENT_PAR"]
RSH = os.environ["RSH_HERE"]

# What the tests themselves run under must not reach the programs.
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GEX_", "GASNET_"))}


class Traced(unittest.TestCase):
    maxDiff = 4000
    neighborhood = 1 << 20  # ranks that share memory

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = os.path.join(self.folder.name, "trace")

    def run_job(self, ranks, *command, variables=None, options=(), status=0, **others):
        done = subprocess.run(
            [GEXRUN, "-n", str(ranks), *options, *command], env={**CLEAN, **(variables or {})},
            text=True, capture_output=True, check=False, **others)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def gextrace(self, *arguments, status=0):
        done = subprocess.run([GEXTRACE, *arguments], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def usage(self, *arguments):
        """The largest memory of gextrace in KiB, and how many bytes it has read."""
        # Freed memory counts again at once.
        variables = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
                     ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}
        with subprocess.Popen([GEXTRACE, *arguments], stdout=subprocess.DEVNULL,
                              env=variables) as process:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            counts = pathlib.Path(f"/proc/{process.pid}/io").read_text(encoding="utf-8")
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss, int(re.search(r"rchar: (\d+)", counts).group(1))

    def summary(self, *options):
        return json.loads(self.gextrace("--summary=json", *options, self.trace).stdout)

    def perfetto(self, *options):
        path = os.path.join(self.folder.name, "timeline.json")
        # Options may stand behind the trace.
        self.gextrace(self.trace, "-o", path, *options)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["traceEvents"]

    def counted(self, rank):
        with open(f"{self.folder.name}/counts.{rank}", encoding="utf-8") as file:
            return json.load(file)

    def compare_with_counts(self, ranks, client=SEQ, threads=1, variables=None, options=()):
        """The test that counts: each rank's own numbers, and its trace."""
        counts = os.path.join(self.folder.name, "counts")
        self.run_job(ranks, client, "count", counts, str(threads), variables=variables,
                     options=["--trace", self.trace, *options])
        every = self.summary()
        self.assertEqual(every["remarks"], [])
        self.assertEqual(every["job_size"], ranks)
        for rank in range(ranks):
            with self.subTest(rank=rank):
                self.compare_rank(self.counted(rank), self.summary("--ranks", str(rank)))
        # Every handler has an arrow, and every message of the client's a handler; a job may end before
        # the library has handled its own last ones. None arrives before it was sent.
        messages = every["messages"]
        own_sent = sum(pair["library_messages"]["count"] for pair in every["pairs"])
        own_handled = sum(handler["count"] for handler in every["library_handlers"])
        handled = sum(handler["count"] for handler in every["handlers"])
        self.assertGreater(handled, 0)
        self.assertEqual(messages["sent"] - own_sent, handled)
        self.assertEqual(messages["handled"] - own_handled, handled)
        self.assertEqual(messages["arrows"], messages["handled"])
        self.assertLessEqual(own_sent - own_handled, 2 * ranks)
        self.assertEqual(messages["backwards"], 0)
        # 3 barriers of the client's and the last one, by every rank; 10 other operations, which a
        # team of one does not need.
        self.assertEqual(every["barriers"], 4 * ranks)
        self.assertEqual(every["collectives"], 10 * ranks if ranks > 1 else 0)
        self.assertEqual(sum(rank["count"] for rank in every["last_arrivals"]),
                         14 if ranks > 1 else 0)
        self.compare_pairs(ranks, every)
        self.compare_timeline(ranks, every)

    def compare_rank(self, counted, found):
        calls = {call["name"]: call for call in found["calls"]}
        names = {name for name, *_ in counted["calls"]}
        for name in names:
            with self.subTest(call=name):
                rows = [row for row in counted["calls"] if row[0] == name]
                peers = {peer: [count, size] for _, peer, count, size in rows if peer >= 0}
                self.assertEqual({peer["peer"]: [peer["count"], peer["bytes"]]
                                  for peer in calls[name]["peers"]}, peers)
                if name != "gex_Event_Wait":
                    self.assertEqual(calls[name]["count"], sum(row[2] for row in rows))
                    if not name.startswith("gex_AM_Prepare"):
                        self.assertEqual(calls[name]["bytes"], sum(row[3] for row in rows))
        # The client also waits for the barriers, and did before it counted.
        waits = sum(row[2] for row in counted["calls"] if row[0] == "gex_Event_Wait")
        self.assertGreaterEqual(calls["gex_Event_Wait"]["count"], waits)
        self.assertLessEqual(calls["gex_Event_Wait"]["count"], waits + 10)
        self.assertEqual({handler["name"]: [handler["count"], handler["bytes"]]
                          for handler in found["handlers"]},
                         {name: row for name, row in counted["handlers"].items() if row[0]})

    def compare_pairs(self, ranks, every):
        pairs = {(pair["from"], pair["to"]): pair for pair in every["pairs"]}
        for rank in range(ranks):
            counted = self.counted(rank)
            for _, peer, count, size in counted["messages"]:
                self.assertEqual(pairs[rank, peer]["messages"], {"count": count, "bytes": size})
            for peer in range(ranks):
                self.assertEqual(
                    pairs[rank, peer]["puts"]["bytes"],
                    sum(row[3] for row in counted["calls"] if row[1] == peer and "Put" in row[0]))
                self.assertEqual(
                    pairs[peer, rank]["gets"]["bytes"],
                    sum(row[3] for row in counted["calls"] if row[1] == peer and "Get" in row[0]))

    def compare_timeline(self, ranks, every):
        events = self.perfetto()
        self.assertEqual({event["pid"] for event in events}, set(range(ranks)))
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(len(begins), every["messages"]["arrows"])
        self.assertEqual(begins.keys(), ends.keys())
        for number, begin in begins.items():
            self.assertLessEqual(begin["ts"], ends[number]["ts"])
        spans = [event for event in events if event["ph"] == "X"]
        handled = [span for span in spans if span["cat"] == "handler"]
        self.assertEqual(len(handled), every["messages"]["handled"])
        self.arrows_as_perfetto_draws_them(events)
        for call in every["calls"]:
            self.assertEqual(len([span for span in spans if span["name"] == call["name"] and
                                  span["cat"] == "call"]), call["count"])
        self.nests(spans)
        self.compare_operations(ranks, events)

    def arrows_as_perfetto_draws_them(self, events):
        """From the span of the track that began last, whether or not it has ended, to a handler."""
        latest = {}
        senders = {}
        for event in sorted(events, key=lambda event: event["ts"]):
            track = event["pid"], event["tid"]
            if event["ph"] == "X":
                latest[track] = event
            elif event["ph"] == "s":
                senders[event["id"]] = latest[track]
            elif event["ph"] == "f":
                handler = latest[track]
                sender = senders[event["id"]]
                self.assertEqual([handler["cat"], handler["ts"], handler["args"]["from"]],
                                 ["handler", event["ts"], sender["pid"]])
                self.sends(sender, handler)

    def sends(self, sender, handler):
        """A message of the client's comes from the call that sends it, or from its wait for room."""
        kind = {"ping": "RequestShort", "data": "RequestMedium", "place": "RequestLong",
                "pong": "ReplyShort", "answer": "ReplyMedium"}.get(handler["name"])
        if kind is not None and (sender["cat"], sender["name"]) != ("wait", "room"):
            self.assertIn(kind, sender["name"])

    def compare_operations(self, ranks, events):
        """An operation that a call to memory that is not shared leaves in flight has an end."""
        begins = [event for event in events if event["ph"] == "b"]
        # Numbers are each rank's own, so that a viewer shows a span with its rank.
        number_of = lambda event: (event["pid"], event["id2"]["local"])
        ends = {number_of(event): event for event in events if event["ph"] == "e"}
        self.assertEqual({number_of(begin) for begin in begins}, ends.keys())
        for begin in begins:
            self.assertLessEqual(begin["ts"], ends[number_of(begin)]["ts"])
        spans_neighborhoods = self.neighborhood < ranks
        for rank in range(ranks):
            calls = self.counted(rank)["calls"]
            for name in ("gex_RMA_PutNB", "gex_RMA_PutNBI", "gex_RMA_GetNB", "gex_RMA_GetNBI",
                         "gex_AD_OpNB_U64", "gex_AD_OpNBI_U64"):
                # A network's atomics are used for memory that is shared as well.
                near = spans_neighborhoods and "AD" in name
                far = sum(count for call, peer, count, _ in calls if call == name and
                          (near or peer // self.neighborhood != rank // self.neighborhood))
                flights = [begin for begin in begins if begin["pid"] == rank and
                           begin["name"] == name + " in flight"]
                self.assertEqual(len(flights), far, name)
                self.assertFalse([flight for flight in flights if "peer" not in flight["args"]])

    def nests(self, spans):
        """Two spans of a thread do not overlap, unless one lies within the other."""
        tracks = {}
        for span in spans:
            begin = round(span["ts"] * 1000)
            tracks.setdefault((span["pid"], span["tid"]), []).append(
                (begin, begin + round(span["dur"] * 1000)))
        for track in tracks.values():
            open_ends = []
            for begin, end in sorted(track, key=lambda span: (span[0], -span[1])):
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1])
                open_ends.append(end)


class SharedMemory(Traced):
    def test_two_ranks(self):
        self.compare_with_counts(2)

    def test_four_ranks(self):
        self.compare_with_counts(4)

    def test_threads(self):
        self.compare_with_counts(2, PAR, threads=3)

    def test_one_rank(self):
        self.compare_with_counts(1)

    def test_checked(self):
        self.compare_with_counts(2, variables={"GEX_CHECK": "1"})


class Emu(Traced):
    neighborhood = 1

    BY_NETWORK = {"GEX_CONDUIT": "emu", "GASNET_SUPERNODE_MAXSIZE": "1"}

    def test_in_order(self):
        self.compare_with_counts(2, variables=self.BY_NETWORK)

    def test_reordered(self):
        self.compare_with_counts(3, variables={**self.BY_NETWORK, "GEX_EMU_SEED": "7"})

    def test_threads_reordered(self):
        self.compare_with_counts(2, PAR, threads=3,
                                 variables={**self.BY_NETWORK, "GEX_EMU_SEED": "11"})

    def predicted(self, latency, *options):
        """In ns, on a network of that latency in ms and nothing else."""
        text = self.gextrace("predict", "--model", f"latency={latency}ms", *options, self.trace).stdout
        number, unit = re.search(r"^predicted +([\d.]+) (\w+)$", text, re.MULTILINE).groups()
        return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]

    def test_prediction(self):
        ranks = 3
        self.run_job(ranks, SEQ, "count", f"{self.folder.name}/counts",
                     variables={**self.BY_NETWORK, "GEX_TRACE": self.trace})
        # The steps that wait are the same, whatever the latency.
        slow, slower, slowest = (self.predicted(latency) for latency in (100, 200, 300))
        self.assertAlmostEqual((slower - slow) / 1e8, (slowest - slower) / 1e8, delta=0.1)
        # Each of these goes there and back before the next.
        calls = ("gex_RMA_PutBlocking", "gex_RMA_GetBlocking")
        blocking = max(sum(count for name, peer, count, _ in self.counted(rank)["calls"]
                           if name in calls and peer != rank) for rank in range(ranks))
        self.assertGreater(blocking, 0)
        self.assertGreaterEqual((slower - slow) / 1e8, 2 * blocking)
        # On one host nothing crosses the network.
        self.assertAlmostEqual(self.predicted(100, "--per-host", "3") / 1e6,
                               self.predicted(300, "--per-host", "3") / 1e6, delta=0.2)
        goal = self.gextrace("predict", "--goal", "-", self.trace).stdout
        self.assertTrue(goal.startswith(f"num_ranks {ranks}\n"))
        self.assertEqual(len(re.findall(r": send \d+b to ", goal)),
                         len(re.findall(r": recv \d+b from ", goal)))
        self.gextrace("predict", self.trace, status=2)
        for options in (["--work", "1"], ["--ranks", "9", "--work", "half"],
                        ["--ranks", "9", "--collectives", "3"]):
            self.gextrace("predict", "--model", "aries", *options, self.trace, status=2)
        os.remove(self.trace + ".1")
        self.assertIn("the whole job", self.gextrace("predict", "--model", "aries", self.trace,
                                                     status=1).stderr)

    def test_prediction_of_more_ranks(self):
        """The program is one that puts to the next rank."""
        traces = [f"{self.trace}{ranks}" for ranks in (3, 4, 5)]
        for ranks, trace in zip((3, 4, 5), traces):
            self.run_job(ranks, SEQ, "fill", "20", options=["--trace", trace],
                         variables=self.BY_NETWORK)

        def predicted(ranks):
            return self.gextrace("predict", "--model", "aries", "--ranks", str(ranks), "--per-host", "64",
                                 "--work", "each", *traces).stdout
        large = predicted(65536)
        self.assertRegex(large, r"(?m)^ranks +65536, 64 on a host; recorded with 3, 4, 5$")
        # 0.85 MiB, and 160 bytes for each rank of the job.
        self.assertRegex(large, r"(?m)^memory of libgex +10\.8 MiB a rank, 694.4 MiB a host, ")
        self.assertRegex(large, r"(?m)^a host's port +20 messages, 160 B, ")
        self.assertNotRegex(large, r"(?m)^limit ")
        self.assertRegex(predicted(1 << 24), r"(?m)^limit +a job of this libgex has at most \d+ ranks$")
        self.assertIn("three or more numbers of ranks",
                      self.gextrace("predict", "--model", "aries", "--ranks", "9", *traces[1:],
                                    status=1).stderr)

    def test_neighborhoods_of_two(self):
        self.neighborhood = 2
        self.compare_with_counts(4, variables={**self.BY_NETWORK, "GEX_EMU_SEED": "3",
                                               "GASNET_SUPERNODE_MAXSIZE": "2"})


class Ofi(Traced):
    neighborhood = 1

    def test_two_ranks(self):
        self.compare_with_counts(2, variables={"GEX_CONDUIT": "ofi",
                                               "GASNET_SUPERNODE_MAXSIZE": "1"})

    def test_threads(self):
        self.compare_with_counts(2, PAR, threads=2, variables={"GEX_CONDUIT": "ofi",
                                                               "GASNET_SUPERNODE_MAXSIZE": "1"})


    def test_two_hosts(self):
        """Reached by a stand-in for ssh: the same machine, so that the clock is one."""
        self.compare_with_counts(2, variables={"GEX_CONDUIT": "ofi", "GEX_OFI_INTERFACE": "127.0.0.1"},
                                 options=["--rsh", RSH, "--hosts", "a,b"])
        # Each rank has its file from the host that it is on.
        self.assertEqual(sorted(os.listdir(self.folder.name)),
                         ["counts.0", "counts.1", "timeline.json", "trace.0", "trace.1"])


class ManyRanks(Traced):
    def test_shared_rings(self):
        """More than 16 members share rings."""
        self.compare_with_counts(18)

    def test_a_thousand(self):
        done = self.run_job(1024, SEQ, "fill", "3",
                            variables={"GEX_TRACE": self.trace, "GEX_TRACE_BYTES": "1M",
                                       "GASNET_MAX_SEGSIZE": "1M"})
        self.assertEqual(done.stderr, "")
        found = self.summary()
        self.assertEqual(len(found["ranks"]), 1024)
        self.assertEqual(found["remarks"], [])
        calls = {call["name"]: call for call in found["calls"]}
        self.assertEqual(calls["gex_RMA_PutBlocking"]["count"], 3 * 1024)
        self.assertEqual(len(calls["gex_RMA_PutBlocking"]["peers"]), 1024)
        # Not all ranks' events at a time.
        events = sum(rank["events"] for rank in found["ranks"])
        for options in ([], ["-o", "-"]):
            self.assertLess(self.usage(*options, self.trace)[0] * 1024, events * 40)


class Faults(Traced):
    def test_a_rank_that_is_killed_leaves_its_trace(self):
        done = self.run_job(2, SEQ, "die", "1", options=["--trace", self.trace], status=137)
        self.assertIn("rank 1", done.stderr)
        found = self.summary()
        self.assertEqual([rank["ended_orderly"] for rank in found["ranks"]], [False, False])
        for rank in (0, 1):
            self.assertIn(f"rank {rank}: its process was ended, or is still running",
                          found["remarks"])
        calls = {call["name"]: call for call in
                 self.summary("--ranks", "1")["calls"]}
        # 20,001 of each, and the ring holds more.
        self.assertEqual(calls["gex_RMA_PutBlocking"]["count"], 20001)
        self.assertEqual(calls["gex_AM_RequestShort"]["count"], 20001)

    def test_the_ring_keeps_the_latest(self):
        self.run_job(1, SEQ, "fill", "100000",
                     variables={"GEX_TRACE": self.trace, "GEX_TRACE_BYTES": "1M"})
        self.assertLessEqual(os.path.getsize(self.trace + ".0"), 1 << 20)
        found = self.summary()
        self.assertRegex(found["remarks"][0], r"^rank 0: \d+ early events were overwritten")
        calls = {call["name"]: call for call in found["calls"]}
        self.assertGreater(calls["gex_RMA_PutBlocking"]["count"], 10000)
        self.assertEqual(found["barriers"], 1)

    def test_a_full_disk_is_one_line(self):
        # A small file system of its own, which ends with the shell.
        namespaces = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--user", "--map-root-user"])]
        mounts = [*namespaces, "mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", self.folder.name]
        if subprocess.run(mounts, capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine allows no mount")
        done = subprocess.run(
            [*namespaces, "sh", "-c",
             'mount -t tmpfs -o size=600k tmpfs "$1" && "$2" -n 1 --trace "$3" "$4" fill 100000 && '
             '"$5" --summary=json "$3"', "sh", self.folder.name, GEXRUN, self.trace, SEQ, GEXTRACE],
            env=CLEAN, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "trace file" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"No space left on device after .*the latest events only")
        found = json.loads(done.stdout)
        self.assertIn("rank 0: the disk was full; the latest events are kept", found["remarks"])
        calls = {call["name"]: call for call in found["calls"]}
        self.assertGreater(calls["gex_RMA_PutBlocking"]["count"], 5000)

    def test_a_folder_in_its_place_is_one_line(self):
        os.mkdir(self.trace + ".0")
        os.mkdir(self.trace + ".1")
        done = self.run_job(2, SEQ, "fill", "1", options=["--trace", self.trace], status=1)
        lines = [line for line in done.stderr.splitlines() if line.startswith("gex: rank")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"GEX_TRACE: trace file .*: it cannot be created: Is a directory")

    def test_what_is_no_trace_is_not_replaced(self):
        path = pathlib.Path(self.trace + ".1")
        path.write_text("precious")
        done = self.run_job(2, SEQ, "fill", "1", options=["--trace", self.trace], status=1)
        self.assertIn(f"{path}: it cannot be created: there is something else of that name",
                      done.stderr)
        self.assertEqual(path.read_text(), "precious")
        path.unlink()
        # But an earlier trace is, and gextrace never overwrites one.
        for _ in range(2):
            self.run_job(2, SEQ, "fill", "1", options=["--trace", self.trace])
        before = path.read_bytes()
        for option in ("-o", "--svg"):
            done = self.gextrace(option, str(path), self.trace, status=2)
            self.assertIn(f"{option} {path}: it is a trace", done.stderr)
        self.assertEqual(path.read_bytes(), before)

    def test_a_folder_that_is_missing_is_one_line(self):
        done = self.run_job(2, SEQ, "fill", "1", options=["--trace", "/nowhere/trace"], status=1)
        self.assertIn("trace file /nowhere/trace.", done.stderr)
        self.assertIn("No such file or directory", done.stderr)

    def test_what_is_no_trace(self):
        path = pathlib.Path(self.trace + ".0")
        path.write_text("something else")
        done = self.gextrace(str(path), status=1)
        self.assertEqual(done.stderr, f"gextrace: {path}: not a trace file of libgex: too short; "
                         "left out\n")


class Settings(Traced):
    def test_without_a_trace_there_is_none(self):
        self.run_job(1, SEQ, "fill", "10")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_relative_name_is_of_where_gexrun_was_started(self):
        self.run_job(2, SEQ, "fill", "10", options=["--trace", "mine"], cwd=self.folder.name)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["mine.0", "mine.1"])

    def test_a_job_that_a_rank_starts_is_not_traced(self):
        for inner in (f"{GEXRUN} -n 2 {SEQ} fill 10", f"{SEQ} fill 10"):
            self.run_job(1, SEQ, "start", inner, options=["--trace", self.trace])
            self.assertEqual(os.listdir(self.folder.name), ["trace.0"])
            self.assertNotIn("gex_RMA_PutBlocking",
                             [call["name"] for call in self.summary()["calls"]])

    def test_some_ranks(self):
        self.run_job(3, SEQ, "fill", "10", options=["--trace", self.trace],
                     variables={"GEX_TRACE_RANKS": "0,2-5"})
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["trace.0", "trace.2", "trace.sums"])
        found = self.summary()
        self.assertEqual([rank["rank"] for rank in found["ranks"]], [0, 2])
        self.assertEqual(found["remarks"], ["no trace of 1 of 3 ranks (rank 1)"])
        self.check_sums(found, 1)
        # An earlier run's sums go.
        self.run_job(3, SEQ, "fill", "10000", options=["--trace", self.trace],
                     variables={"GEX_TRACE_RANKS": "0"})
        self.check_sums(self.summary(), 2, 10000)
        self.assertIn("sums of 2    ranks that were not traced", self.gextrace(self.trace).stdout)
        done = self.run_job(3, SEQ, "fill", "10", options=["--trace", self.trace],
                            variables={"GEX_TRACE_RANKS": "some"}, status=1)
        self.assertIn("GEX_TRACE_RANKS='some': expected ranks (0-3,64), every:N or hosts:N", done.stderr)

    def check_sums(self, found, ranks, puts=10):
        """The ranks that are not traced have the sums of what a traced one has done."""
        self.assertEqual(found["untraced"]["ranks"], ranks)
        sums = {(one["kind"], one["name"]): one for one in found["untraced"]["sums"]}
        put = sums["call", "gex_RMA_PutBlocking"]
        traced = {call["name"]: call for call in found["calls"]}["gex_RMA_PutBlocking"]
        self.assertEqual(put["count"], puts * ranks)
        self.assertEqual(put["bytes"] * traced["count"], traced["bytes"] * put["count"])
        self.assertGreater(put["seconds"], 0)

    def test_a_child_of_a_rank_is_not_traced(self):
        self.run_job(2, SEQ, "fork", "5000", options=["--trace", self.trace])
        found = self.summary()
        self.assertEqual(found["remarks"], [])
        calls = {call["name"]: call for call in found["calls"]}
        self.assertEqual(calls["gex_RMA_PutBlocking"]["count"], 2 * 5000)

    def test_a_folder_may_have_its_name(self):
        os.mkdir(self.trace)
        self.run_job(2, SEQ, "fill", "10", options=["--trace", self.trace])
        self.assertEqual(len(self.summary()["ranks"]), 2)
        done = self.run_job(2, SEQ, "fill", "10", variables={"GEX_TRACE": self.trace + "/"}, status=1)
        self.assertIn("expected the name of a file", done.stderr)
        self.assertEqual(os.listdir(self.trace), [])

    def test_filters(self):
        self.run_job(2, SEQ, "fill", "1000", options=["--trace", self.trace])
        every = self.summary()
        named = self.summary("--calls", "gex_RMA_*")
        self.assertEqual([call["name"] for call in named["calls"]], ["gex_RMA_PutBlocking"])
        end = max(rank["end"] for rank in every["ranks"])
        self.assertEqual(self.summary("--from", str(end + 1))["calls"], [])
        self.assertEqual(len(self.summary("--ranks", "1")["ranks"]), 1)

    def test_a_picture(self):
        self.run_job(2, SEQ, "fill", "20", options=["--trace", self.trace])
        picture = self.gextrace("--svg", "-", self.trace).stdout
        self.assertTrue(picture.startswith("<svg "))
        self.assertIn("rank 1", picture)
        self.assertIn("gex_Coll_BarrierNB", picture)

    def copies(self, ranks):
        """A trace of so many ranks, each with the calls of the one that has run."""
        with open(self.trace + ".0", "rb") as file:
            trace = bytearray(file.read())
        name = os.path.join(self.folder.name, f"copies{ranks}")
        for rank in range(ranks):
            struct.pack_into("=II", trace, 48, rank, ranks)  # FileHeader::rank, job_size
            pathlib.Path(f"{name}.{rank}").write_bytes(trace)
        return name

    def test_outputs_take_the_memory_of_a_rank_and_read_the_files_together(self):
        self.run_job(1, SEQ, "fill", "8000", options=["--trace", self.trace])
        few, many = self.copies(2), self.copies(20)
        picture = ("--svg", "/dev/null")
        timeline = ("-o", os.path.join(self.folder.name, "timeline.json"))
        for options in (picture, timeline, ["--summary"]):
            self.assertLess(self.usage(*options, many)[0], 1.5 * self.usage(*options, few)[0])
        read = self.usage(*timeline, many)[1]
        self.assertLess(self.usage(*timeline, *picture, "--summary", many)[1], 1.1 * read)
        self.assertLess(self.usage(*timeline, "--ranks", "3", many)[1], 0.2 * read)

    def test_text(self):
        self.run_job(2, SEQ, "fill", "20", options=["--trace", self.trace])
        text = self.gextrace(self.trace).stdout
        self.assertRegex(text, r"gex_RMA_PutBlocking +40 ")

    def test_mistakes(self):
        for options, line in ((["--ranks", "x", "t"], "--ranks 'x' is not a list of ranks"),
                              (["--from", "soon", "t"], "--from 'soon' is not a number"),
                              (["--summary=xml", "t"], "--summary=xml is neither text nor json"),
                              (["-o", "-", "--svg", "-", "t"], "-o and --svg need different files"),
                              ([], "the trace to read is missing"),
                              (["--what", "t"], "unknown option --what"),
                              (["t", "--what"], "unknown option --what")):
            self.assertIn(line, self.gextrace(*options, status=2).stderr)
        done = self.gextrace(self.trace, status=1)
        self.assertEqual(done.stderr, f"gextrace: {self.trace}.0: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
