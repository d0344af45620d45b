#!/usr/bin/env python3
"""Runs gexperf and checks how it behaves.

    gexperf_test.py TEST [ARGUMENT...] GEXPERF
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

NAMES = {
    "limits": [
        "limit.copy.8", "limit.copy.8.rate", "limit.fetch.8", "limit.memcpy.1048576", "limit.fadd.8",
        "limit.line", "limit.lines.2", "limit.word", "limit.memory.65536", "limit.exchange", "limit.yield",
        "limit.spawn.2",
    ],
    "put": ["put.8.blocking", "put.8.rate", "put.8.nbi", "put.8.nb", "put.1048576"],
    "get": ["get.8.blocking"],
    "atomic": ["atomic.fadd.8", "atomic.fadd.8.nbi", "atomic.add.8", "atomic.fadd.dbl",
               "atomic.fadd.8.variable_op", "atomic.fadd.8.variable_op.nbi",
               "atomic.fadd.8.variable_op.wait", "atomic.add.8.variable_op",
               "atomic.fadd.same_word", "atomic.fadd.hot_spot"],
    "vis": ["vis.strided.3.65536", "vis.strided.8.65536", "vis.strided.32.65536"],
    "am": [
        "am.short.rtt", "am.short.rtt.par", "am.short.flood", "am.short.flood.par",
        "am.short.flood.par2", "am.short.flood.both", "am.short.flood.both.work",
        "am.short.flood.both.stores", "am.short.flood.both.self", "am.short.flood.emu",
        "am.medium.8.rtt", "am.medium.8.rtt.par", "am.medium.64.rtt", "am.medium.64.rtt.par", "am.short.self",
        "am.short.self.par", "am.medium.64.self", "am.medium.64.self.par", "am.np.65536",
        "am.np.65536.par",
    ],
    "barrier": ["barrier.2", "barrier.4", "barrier.8"],
    "coll": ["coll.broadcast.8", "coll.reduce_to_all.8"],
    "poll": ["poll.idle", "event.nb", "am.immediate.failed"],
    "emu": [
        "emu.put.8", "emu.get.8", "emu.am.short.rtt", "emu.put.65536.flood",
        "emu.get.65536.flood", "emu.am.8192.flood",
    ],
    "ofi": [
        "ofi.put.8", "ofi.get.8", "ofi.am.short.rtt", "ofi.am.16384.flood", "ofi.put.65536.flood",
        "ofi.put.1048576.flood",
    ],
    "udp": [
        "udp.put.8", "udp.am.short.rtt", "udp.am.8.flood", "udp.am.16384.flood", "udp.put.65536.flood",
        "udp.put.1048576.flood", "udp.put.65536.flood.header", "udp.put.1048576.flood.header",
        "udp.put.65536.flood.1472", "udp.put.65536.flood.loss", "udp.put.65536.to_one.16",
    ],
    "ucx": [f"ucx.{over}.{what}" for over in ("tcp", "shm")
            for what in ("put.8", "get.8", "am.short.rtt", "put.65536.flood", "put.1048576.flood")],
    "mpi": [f"mpi.{what}.{mpi}" for mpi in ("openmpi", "mpich") for what in
            ("put.8", "am.short.rtt", "am.8.flood", "am.16384.flood", "put.65536.flood")],
    "launch": ["launch.2"],
    "scale": [f"scale.{ranks}.{what}" for ranks in (64, 256, 1024) for what in ("launch", "memory")],
    "threads": [f"threads.{what}.{threads}" for what in
                ("flood", "flood.scaling", "rtt", "put", "fadd", "mixed")
                for threads in (1, 2, 4, 8) if (what, threads) != ("flood.scaling", 1)],
    "cores": [f"cores.{what}.{ranks}" for what in
              ("barrier", *(f"{collective}.{bytes}" for collective in ("broadcast", "reduce_to_all")
                            for bytes in ("8", "65536", "1048576", "16777216", "1048576.private")),
               "to_one", "to_all", "hot_spot")
              for ranks in (2, 8, 16)],
    "cuda": [
        *(f"cuda.{what}.{ends}.{size}" for what in ("put", "get")
          for ends in ("host.device", "device.host", "device.device")
          for size in (8, 4096, 65536, 1048576, 67108864)),
        "cuda.put.host.host.8", "cuda.put.host.host.1048576",
        "cuda.put.self.host.device.8", "cuda.put.self.device.device.8",
        "cuda.put.self.host.device.67108864", "cuda.put.self.device.device.67108864",
        "cuda.put.flood.host.device.8", "cuda.put.flood.host.device.4096",
        "cuda.put.flood.host.device.65536", "cuda.put.flood.device.device.8",
        "cuda.get.flood.host.device.8", "cuda.get.flood.host.device.4096",
        "cuda.put.strided.device.device.524288", "cuda.get.strided.host.device.524288",
        "cuda.put.messages.host.device.8", "cuda.put.messages.host.device.65536",
        "cuda.put.messages.device.device.67108864", "cuda.get.messages.host.device.67108864",
        "cuda.put.kernel.8", "cuda.first_put", "cuda.poll.idle",
    ],
}
RATES = ("threads.flood.", "cores.to_one.", "cores.to_all.")


def cores_for(name):
    """Without so many cores the row is left out."""
    if name == "udp.put.65536.to_one.16":
        return 17
    number = int(name.rsplit(".", 1)[-1]) if name.startswith(("threads.", "cores.")) else 0
    return 2 * number if name.startswith("threads.") else number


# DESIGN.md, section 6: what is held against the budget, and the budget.
BUDGETS = {
    "put.8.blocking": ("ratio", 1.05), "put.8.nbi": ("ratio", 1.1), "put.8.nb": ("ratio", 1.1),
    "put.1048576": ("ratio", 1.05), "get.8.blocking": ("ratio", 1.05),
    "atomic.fadd.8": ("ratio", 1.15), "atomic.fadd.8.nbi": ("ratio", 1.15),
    "atomic.fadd.8.variable_op": ("ratio", 1.2), "atomic.fadd.8.variable_op.nbi": ("ratio", 1.2),
    "atomic.add.8.variable_op": ("ratio", 1.2), "atomic.fadd.same_word": ("ratio", 1.15),
    "atomic.fadd.hot_spot": ("ratio", 1.15),
    "am.short.rtt": ("ratio", 1.15), "am.short.rtt.par": ("ratio", 1.25),
    "am.short.flood": ("value", 15), "am.short.flood.par": ("value", 25),
    "am.short.flood.par2": ("ratio", 1.25), "am.short.flood.emu": ("value", 15),
    "am.medium.8.rtt": ("ratio", 1.2), "am.medium.8.rtt.par": ("ratio", 1.2),
    "am.medium.64.rtt": ("ratio", 1.2), "am.medium.64.rtt.par": ("ratio", 1.2),
    "am.short.self": ("value", 20), "am.short.self.par": ("value", 20),
    "am.medium.64.self": ("value", 40), "am.medium.64.self.par": ("value", 40),
    "am.np.65536": ("ratio", 1.15), "am.np.65536.par": ("ratio", 1.15),
    "barrier.2": ("ratio", 1.2), "barrier.4": ("ratio", 1.2), "barrier.8": ("ratio", 4),
    "poll.idle": ("value", 2.6), "event.nb": ("value", 5), "am.immediate.failed": ("value", 5),
    "launch.2": ("excess", 10),
    "emu.put.8": ("ratio", 1.05), "emu.get.8": ("ratio", 1.05), "emu.am.short.rtt": ("ratio", 1.05),
    "emu.put.65536.flood": ("ratio", 1.05), "emu.get.65536.flood": ("ratio", 1.05),
    "emu.am.8192.flood": ("ratio", 1.05),
    "ofi.put.8": ("ratio", 1.15), "ofi.get.8": ("ratio", 1.15), "ofi.am.short.rtt": ("ratio", 1.15),
    "ofi.am.16384.flood": ("ratio", 1.05263), "ofi.put.65536.flood": ("ratio", 1.05263),
    "ofi.put.1048576.flood": ("ratio", 1.05263),
    "udp.put.8": ("ratio", 1.15), "udp.am.short.rtt": ("ratio", 1.15), "udp.am.8.flood": ("value", 333),
    "udp.am.16384.flood": ("value", 4900), "udp.put.65536.flood": ("ratio", 1.42857),
    "udp.put.1048576.flood": ("ratio", 1.42857), "udp.put.65536.flood.header": ("ratio", 1.42857),
    "udp.put.1048576.flood.header": ("ratio", 1.42857), "udp.put.65536.flood.loss": ("ratio", 1.66667),
    "udp.put.65536.to_one.16": ("ratio", 1.42857),
    "coll.broadcast.8": ("ratio", 1.2), "coll.reduce_to_all.8": ("ratio", 1.5),
    "vis.strided.3.65536": ("ratio", 1.1), "vis.strided.8.65536": ("ratio", 1.1),
    "vis.strided.32.65536": ("ratio", 1.1),
}
for row in NAMES["ucx"]:
    BUDGETS[row] = ("ratio", 1.05263 if row.endswith("flood") else 1.1)
for mpi in ("openmpi", "mpich"):
    BUDGETS.update({f"mpi.{what}.{mpi}": ("ratio", 1.3) for what in ("put.8", "am.short.rtt")})
for budget, of in ((1.33333, ("threads.flood.scaling.",)), (1.25, ("threads.rtt.",)),
                   (1.15, ("threads.fadd.",)), (1.5, ("cores.reduce_to_all.8.",)),
                   (1.2, ("cores.barrier.", "cores.broadcast.", "cores.reduce_to_all."))):
    for row in NAMES["threads"] + NAMES["cores"]:
        if row.startswith(of):
            BUDGETS.setdefault(row, ("ratio", budget))
BUDGETS.update({"cuda.first_put": ("value", 5e6), "cuda.poll.idle": ("excess", 1)})
for row in NAMES["cuda"]:
    budget = next((budget for mark, budget in ((".messages.", None), (".host.host.", None),
                                               (".flood.", 1.2), (".strided.", 1.1), ("device.8", 1.15),
                                               ("host.8", 1.15), (".67108864", 1.03093))
                   if mark in row), None)
    if budget:
        BUDGETS[row] = ("ratio", budget)
# 15 ns a dimension beside the ratio.
ALLOWANCES = {"vis.strided.3.65536": 45, "vis.strided.8.65536": 120, "vis.strided.32.65536": 480}
KEYS = [
    "name", "size", "value", "unit", "spread", "limit", "ratio", "budget", "allowance_ns",
    "budget_of", "met",
    "accepted", "runs", "below_floor", "device", "fake_device",
]
# Least work that is still a measurement.
QUICK = ["--rounds", "3", "--runs", "1"]
MARK = "GEXPERF_TEST_MARK"


def check(condition, what):
    if not condition:
        sys.exit(f"gexperf_test.py: {what}")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    print(done.stdout, done.stderr, sep="")
    return done


def refused(status, expression, *command):
    """Runs what must end with a status and one line, which the expression matches."""
    done = run(*command)
    check(done.returncode == status, f"exit status {done.returncode}, not {status}")
    check(done.stdout == "", "something on standard output")
    lines = done.stderr.splitlines()
    check(len(lines) == 1 and re.fullmatch(expression, lines[0]), f"not one line of: {expression}")


def check_object(found, name):
    check(list(found) == KEYS, f"{name}: the keys are {list(found)}")
    check(found["value"] > 0, f"{name}: no value")
    unit = "ms" if name in ("launch.2", "limit.spawn.2") or name.endswith(".launch") else "ns"
    unit = "M/s" if name.startswith(RATES) else unit
    check(found["unit"] == ("KiB" if name.endswith(".memory") else unit),
          f"{name}: unit {found['unit']}")
    check(found["spread"] >= 0, f"{name}: spread")
    check((found["limit"] is None) == (found["ratio"] is None), f"{name}: limit without ratio")
    of, budget = BUDGETS.get(name, (None, None))
    check((found["budget_of"], found["budget"]) == (of, budget), f"{name}: another budget")
    check(found["allowance_ns"] == ALLOWANCES.get(name), f"{name}: another allowance")
    check(of not in ("ratio", "excess") or found["limit"] > 0, f"{name}: no limit")
    check(found["runs"] in range(1, 4) and found["accepted"] in range(0, 2),
          f"{name}: {found['accepted']} of {found['runs']} runs, one quiet one wanted")
    check(found["accepted"] == 1 or found["runs"] == 3, f"{name}: gave up too early")
    check(isinstance(found["below_floor"], bool), f"{name}: below_floor")
    fake = found["fake_device"]
    check(fake == name.startswith("cuda."), f"{name}: a fake device, or none")
    check((found["device"] or "").startswith("Fake device 0, by ") == fake, f"{name}: another device")
    if of is None:
        check(found["met"] is None, f"{name}: met without a budget")
        return
    held = {"ratio": found["ratio"], "value": found["value"]}
    if found["limit"] is not None:
        held["excess"] = found["value"] - found["limit"]
    if name in ALLOWANCES:
        held["ratio"] -= ALLOWANCES[name] / found["limit"]
    within = held[of] <= budget
    shown = (found["accepted"] > 0 and not found["below_floor"] and not fake and
             cores_for(name) <= cores())
    check(found["met"] == (within and shown), f"{name}: met is {found['met']}")


def cores():
    """Physical cores that this process may run on."""
    found = set()
    for processor in os.sched_getaffinity(0):
        path = f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list"
        found.add(pathlib.Path(path).read_text() if os.path.exists(path) else processor)
    return len(found)


def test_json(group, gexperf):
    # A launch of many ranks takes seconds.
    quick = ["--rounds", "1", "--runs", "1"] if group == "scale" else QUICK
    done = run(gexperf, group, "--json", *quick)
    check(done.returncode == 0, f"exit status {done.returncode}")
    array = json.loads(done.stdout)
    expected = [name for name in NAMES[group] if cores_for(name) <= cores()]
    check([found["name"] for found in array] == expected, "not the names of the group")
    for found in array:
        check_object(found, found["name"])


def test_table(gexperf):
    done = run(gexperf, "barrier", "poll", *QUICK)
    check(done.returncode == 0, f"exit status {done.returncode}")
    lines = done.stdout.splitlines()
    columns = ["name", "size", "median", "spread", "limit", "ratio", "budget", "met", "runs"]
    check(lines[0].split() == columns, "another heading")
    number = r"[0-9.]+"
    for line, name in zip(lines[1:], NAMES["barrier"] + NAMES["poll"]):
        limit = rf"{number} ns +{number}" if name.startswith("barrier") else "- +-"
        expression = (rf"{re.escape(name)} .* {number} ns +{number}% +{limit} +{number}(x| ns) +"
                      r"(yes|no|disturbed|mistake) +[01] of [1-3]")
        check(re.fullmatch(expression, line), f"not a line of {name}: {line}")
    disturbed = any(line.endswith("0 of 3") for line in lines)
    remarked = any(line.startswith("No quiet run was to be had") for line in lines)
    check(disturbed == remarked, "the remark on disturbed rows does not fit the rows")


def test_oversubscribed(gexperf):
    """Threads and ranks that share cores do the same as on cores of their own, and what is measured
    of them meets no budget."""
    names = [name for name in NAMES["threads"] if name.endswith(".2")]
    names += [f"cores.{what}.8" for what in ("barrier", "broadcast.65536", "reduce_to_all.65536",
                                             "to_one", "to_all", "hot_spot")]
    # Fewer than any of these rows needs, on every machine.
    processors = sorted(os.sched_getaffinity(0))[:3]
    os.sched_setaffinity(0, processors)
    done = run(gexperf, *names, "--oversubscribe", "--json", "--rounds", "2", "--runs", "1",
               "--tries", "1")
    check(done.returncode == 0, f"exit status {done.returncode}")
    array = json.loads(done.stdout)
    check([found["name"] for found in array] == names, "not the rows that were named")
    for found in array:
        check(found["value"] > 0 and found["limit"] > 0, f"{found['name']}: no value or no limit")
        check(not found["met"], f"{found['name']}: a budget is met by threads that share cores")
        check(found["runs"] == 1, f"{found['name']}: {found['runs']} runs, one allowed")
    done = run(gexperf, "threads.put.2", "--oversubscribe", "--rounds", "1", "--runs", "1",
               "--tries", "1")
    check(re.search(r"threads\.put\.2 .* few cores 0 of 1|threads\.put\.2 .* few cores 1 of 1",
                    done.stdout), "the table does not state that there were too few cores")


def test_left_out(gexperf):
    """Rows that need more cores than there are: no rows, and one message that names them."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    have = cores()
    names = ["threads.put.2", "threads.rtt.2"]
    done = run(gexperf, *names, "--json", *QUICK)
    check(done.returncode == 0 and json.loads(done.stdout) == [], "rows of too few cores")
    expected = f"gexperf: left out what needs 4 cores, and may use {have}: threads.rtt.2 threads.put.2\n"
    check(done.stderr == expected, f"not: {expected}")
    done = run(gexperf, "--list", "--json", "threads", "cores", "put")
    check(done.returncode == 0, f"exit status {done.returncode}")
    listed = json.loads(done.stdout)
    check([row["name"] for row in listed] == [*NAMES["put"], *NAMES["threads"], *NAMES["cores"]],
          "--list does not name the rows of the groups")
    for row in listed:
        needed = cores_for(row["name"])
        check(row["cores"] == (needed or 2), f"{row['name']}: needs {row['cores']} cores")
        reason = f"needs {needed} cores, and may use {have}" if needed > have else None
        check(row["left_out"] == reason, f"{row['name']}: left out: {row['left_out']}")
        check(row["what"], f"{row['name']} is not explained")
    done = run(gexperf, "--list", "threads.put.2")
    check(re.fullmatch(rf"threads\.put\.2 +4 cores  left out: needs 4 cores, and may use {have}\n    .*; limit: .*\n",
                       done.stdout), "--list prints other lines")
    done = run(gexperf, "--list")
    check([line.split()[0] for line in done.stdout.splitlines()[::2]] ==
          [name for group, names in NAMES.items() for name in names
           if group not in ("scale", "threads", "cores", "cuda")], "--list names other rows than are usual")


def use_fake_cuda(library):
    os.environ["GEX_CUDA_LIBRARY"] = library
    # The largest rows have four buffers of 64 MiB in a process.
    os.environ["FAKE_CUDA_MEMORY"] = str(1 << 30)


def test_json_cuda(library, gexperf):
    use_fake_cuda(library)
    test_json("cuda", gexperf)


def test_cuda(library, gexperf):
    """Figures of a driver for tests are marked, and without a driver there are none."""
    use_fake_cuda(library)
    listed = run(gexperf, "--list", "--json", "cuda")
    check([row["name"] for row in json.loads(listed.stdout)] == NAMES["cuda"], "other rows are listed")
    quick = ["--rounds", "1", "--runs", "1", "--tries", "1"]
    done = run(gexperf, "cuda.put.host.device.8", *quick)
    lines = done.stdout.splitlines()
    check(done.returncode == 0 and len(lines) >= 3, f"exit status {done.returncode}")
    check(re.fullmatch(r"cuda\.put\.host\.device\.8 +8 .* ns +[0-9.]+ +1\.15x fake +[01] of 1", lines[1]),
          f"the line of the row is {lines[1]}")
    check(lines[-1] == f"Memory of Fake device 0, by {library} of CUDA 13.0, a driver for tests: its "
          "figures mean nothing.", f"the remark is {lines[-1]}")
    os.environ["GEX_CUDA_LIBRARY"] = "no-driver.so"
    done = run(gexperf, "cuda", "--json", *quick)
    check(done.returncode == 0 and json.loads(done.stdout) == [], "rows without a driver")
    check(re.fullmatch(r"gexperf: what goes over CUDA was left out: no-driver\.so: cannot open .*\n",
                       done.stderr), "no line states that there is no driver")


def test_busy(gexperf):
    done = run(gexperf, "busy", "udp", "smp", "--json", "--rounds", "1", "--runs", "1")
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    loads = ["quiet", "1 process", "4 processes", "24 processes", "mixed"]
    if "quota of 1' was left out" not in done.stderr:
        loads.append("quota of 1")
    bare = ["bare." + what for what in
            ("work", "spin", "socket", "socket.wake", "socket.wake.free", "futex", "futex.wake",
             "futex.wake.free")]
    operations = [f"{network}.{operation}" for network in ("smp", "udp")
                  for operation in ("barrier", "am.short.rtt", "put.8", "fadd.8", "step", "wake", "wake.free")]
    expected = [(name, load) for load in loads
                for name in ([] if load == "quota of 1" else bare) + operations]
    check([(one["name"], one["beside"]) for one in found] == expected, "other figures than expected")
    for one in found:
        check(one["ns"] > 0 and one["of_quiet"] > 0, f"no figure: {one}")
        check(one["beside"] != "quiet" or one["of_quiet"] == 1, f"not itself: {one}")
        compared = one["name"] in operations and one["beside"] != "quota of 1"
        compared = compared and one["name"] not in ("smp.put.8", "smp.fadd.8", "smp.step", "udp.step")
        check((one["of_bare"] is not None) == compared and (one["bare"] is not None) == compared,
              f"compared or not: {one}")
        check((one["of_share"] is not None) ==
              (one["beside"] != "quota of 1" and one["name"] != "bare.work"),
              f"compared with the share or not: {one}")


def test_quota(gexperf):
    """Two ranks that have one processor's time together advance at about half their speed: what is
    left is spent on work, not on waiting for the other rank."""
    tree = pathlib.Path(gexperf).resolve().parent.parent
    group = None
    for folder, setting, value in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"),
                                   ("/sys/fs/cgroup", "cpu.max", "100000 100000")):
        group = pathlib.Path(folder) / f"gex-test-{os.getpid()}"
        try:
            group.mkdir()
            (group / setting).write_text(value)
            break
        except OSError as trouble:
            why = trouble
            if group.is_dir():
                group.rmdir()
    else:
        print(f"gexperf_test.py: skipped: cannot make a control group with a quota: {why}")
        sys.exit(77)

    def step(network, within):
        enter = [] if not within else ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec \"$@\"", "sh"]
        done = run(*enter, str(tree / "bin/gexrun"), "-n", "2", *(["--conduit", network] if network else []),
                   str(tree / "libexec/gex/gexperf-seq"), "busy", "step", "600",
                   *(["apart"] if network else []))
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
        return float(done.stdout.split()[1])

    try:
        for network in ("", "udp"):
            free, limited = [], []
            for _ in range(3):
                free.append(step(network, False))
                limited.append(step(network, True))
            slower = sorted(limited)[1] / sorted(free)[1]
            check(slower < 4, f"{network or 'smp'}: {slower:.1f} times as slow under half the processors: "
                  f"{limited} and {free} ns")
    finally:
        while group.is_dir():
            try:
                group.rmdir()
            except OSError:
                time.sleep(0.05)  # the last processes of the job are still ending


def test_usage(gexperf):
    tail = r" \(gexperf --help\)"
    refused(2, "gexperf: 'put' is no network .*: smp, udp, .*" + tail, gexperf, "busy", "put")
    refused(2, "gexperf: smp is measured by 'busy' only" + tail, gexperf, "smp")
    refused(2, "gexperf: --tries: '0' is not a number from 1 to 1000" + tail, gexperf, "--tries", "0")
    refused(2, "gexperf: 'bandwidth' is not in .*, and no name of a row" + tail, gexperf, "bandwidth")
    refused(2, "gexperf: --rounds: '0' is not a number from 1 to 100000" + tail, gexperf, "--rounds", "0")
    refused(2, "gexperf: --rounds: 'many' is not a number from 1 to 100000" + tail, gexperf, "--rounds", "many")
    refused(2, "gexperf: --runs: '-1' is not a number from 1 to 1000" + tail, gexperf, "--runs", "-1")
    refused(2, "gexperf: --model: 'nowhere' is not a known network; available: .*" + tail, gexperf, "--model",
            "nowhere")
    refused(2, "gexperf: --model: .*: expected a latency, .*" + tail, gexperf, "--model", "gap=1us")
    refused(2, "gexperf: unknown option --fast" + tail, gexperf, "--fast")
    for hosts in ("a", "a,", ",b", "a,b,c", "a, b", "-a,b"):
        refused(2, f"gexperf: --hosts: '{hosts}' is not two hosts, as in A,B" + tail, gexperf,
                f"--hosts={hosts}", "put")
    refused(2, "gexperf: --hosts: 'a' is not two hosts, as in A,B" + tail, gexperf, "--hosts", "a", "put")
    refused(2, "gexperf: option --hosts needs a value" + tail, gexperf, "put", "--hosts")
    done = run(gexperf, "--help")
    check(done.returncode == 0, "no help")
    for option in ("--json", "--list", "--rounds", "--runs", "--tries", "--hardware-threads",
                   "--oversubscribe", "--model", "--hosts", "--rsh", "busy", *NAMES):
        check(option in done.stdout, f"--help does not list {option}")
    done = run(gexperf, "--version")
    check(done.returncode == 0 and re.fullmatch(r"gexperf \(libgex\) [0-9.]+\n", done.stdout),
          f"--version prints {done.stdout}")
    for arguments in (["put", *QUICK], ["get", "--json", *QUICK], ["--help"], ["--version"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([gexperf, *arguments], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        message = "gexperf: cannot write standard output: No space left on device\n"
        check(done.returncode == 1 and done.stderr == message,
              f"{arguments}: status {done.returncode}, {done.stderr}")


def marked(mark):
    """Processes that have inherited the mark."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((int(folder.name), (folder / "comm").read_text().strip()))
        except OSError:
            continue
    return found


def wait_for(condition, what):
    deadline = time.monotonic() + 30
    while not condition():
        check(time.monotonic() < deadline, what)
        time.sleep(0.01)


def end_by(number, gexperf):
    mark = str(uuid.uuid4())
    process = subprocess.Popen([gexperf, "am", "--rounds", "1000"], stdout=subprocess.DEVNULL,
                               env={**os.environ, MARK: mark})
    wait_for(lambda: [name for _, name in marked(mark)].count("gexperf-seq") == 2,
             "no ranks were started")
    process.send_signal(number)
    process.wait(30)
    check(process.returncode == -number, f"ended with {process.returncode}, not by the signal")
    return mark


def test_interrupt(gexperf):
    for number in (signal.SIGINT, signal.SIGTERM):
        mark = end_by(number, gexperf)
        check(not marked(mark), f"left behind: {marked(mark)}")


def test_killed(gexperf):
    mark = end_by(signal.SIGKILL, gexperf)
    wait_for(lambda: not marked(mark), f"left behind: {marked(mark)}")


class Copy:
    """gexperf in a tree of its own, with a launcher that is a shell script."""

    def __init__(self, gexperf, script):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        workers = root / "libexec/gex"
        workers.mkdir(parents=True)
        (root / "bin").mkdir()
        self.gexperf = str(shutil.copy(gexperf, root / "bin/gexperf"))
        self.launcher = root / "bin/gexrun"
        self.workers = [workers / "gexperf-seq", workers / "gexperf-par"]
        for program in [self.launcher, *self.workers]:
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)


def test_broken_installation(gexperf):
    def refused_with(why, script, group):
        copy = Copy(gexperf, script)
        refused(1, "gexperf: " + why, copy.gexperf, group, "--json", *QUICK)

    refused_with("put.8.blocking: the measuring job failed: exit status 3", "exit 3", "put")
    refused_with("put.8.blocking: the measuring job failed: signal 9", "kill -9 $$", "put")
    for output in ("echo sample 1 2", "echo nonsense", "for i in 1 2 3; do echo sample 1 x; done"):
        refused_with("put.8.blocking: the measuring job did not print 3 samples", output, "put")
    refused_with("launch.2: the launched job did not print when it had attached", "echo hello",
                 "launch")
    incomplete = Copy(gexperf, "exit 0")
    for program in (incomplete.workers[1], incomplete.launcher):
        program.unlink()
        refused(1, f"gexperf: '{re.escape(str(program))}' is missing", incomplete.gexperf)


def test_figures(gexperf):
    """Figures from a launcher that prints the same samples for every row."""
    samples = "\n".join(f"echo sample {subject} {limit}"
                        for subject, limit in ((30, 10), (10, 10), (24, 12), (20, 10), (18, 9)))
    copy = Copy(gexperf, f'printf "%s\\n" "$*" >> "$0.calls"\n{samples}')
    done = run(copy.gexperf, "limits", "put", "am", "barrier", "--json", "--rounds", "5",
               "--runs", "1")
    # The launch in `limits` starts real processes.
    check(done.returncode == 0, f"exit status {done.returncode}")
    for found in json.loads(done.stdout):
        name = found["name"]
        if name == "limit.spawn.2":
            continue
        if name.startswith("limit."):
            check((found["value"], found["limit"], found["ratio"]) == (10, None, None), name)
        else:
            check((found["value"], found["limit"], found["ratio"]) == (20, 10, 2), name)
            check(abs(found["spread"] - 0.3) < 1e-6, f"{name}: spread {found['spread']}")
    calls = pathlib.Path(str(copy.launcher) + ".calls").read_text().splitlines()
    workers = [re.escape(str(worker)) for worker in copy.workers]
    for expression in (rf"-n 2 --bind core .*{workers[0]} measure put.8.nb 5",
                       rf"-n 8 --bind core .*{workers[0]} measure barrier.many 5",
                       rf"-n 4 --bind core .*{workers[0]} limit barrier.many 5",
                       rf"-n 2 .*--conduit smp .*{workers[0]} measure am.short.flood 5",
                       rf"-n 2 .*--conduit emu .*{workers[0]} measure am.short.flood 5",
                       rf"-n 2 .*--conduit smp .*{workers[1]} measure am.short.flood 5"):
        check(any(re.fullmatch(expression, call) for call in calls), f"no call is: {expression}")


def test_one_thread(gexperf):
    """The limit of a row of scaling is T times the rate of a job of one thread, which is run behind
    the job of T threads."""
    copy = Copy(gexperf, 'printf "%s\\n" "$*" >> "$0.calls"\n'
                'case "$*" in *" threads.flood 3 1 "*) echo "sample 10 0\nsample 10 0\nsample 10 0";; '
                '*) echo "sample 16 0\nsample 16 0\nsample 16 0";; esac')
    done = run(copy.gexperf, "threads.flood.scaling.2", "--oversubscribe", "--json", *QUICK)
    check(done.returncode == 0, f"exit status {done.returncode}")
    found, = json.loads(done.stdout)
    check((found["value"], found["limit"], found["unit"], found["ratio"]) == (125, 200, "M/s", 1.6),
          f"two messages in 16 ns, against one in 10 ns by each of two: {found}")
    calls = pathlib.Path(str(copy.launcher) + ".calls").read_text().splitlines()
    worker = re.escape(str(copy.workers[1]))
    for call, expression in zip(calls, (rf"-n 2 --bind none .*{worker} subject threads.flood 3 2 "
                                        r"\d+,\d+,\d+,\d+",
                                        rf"-n 2 --bind none .*{worker} subject threads.flood 3 1 "
                                        r"\d+,\d+")):
        check(re.fullmatch(expression, call), f"{call} is not: {expression}")


def test_model(gexperf):
    """The worker receives what emu pretends to be, and what that gives the row."""
    model = "latency=3us,bandwidth=1GB/s"
    copy = Copy(gexperf, 'printf "%s\\n" "$*" >> "$0.calls"\n' + 3 * "echo sample 10 10\n")
    done = run(copy.gexperf, "put", "emu", "--model", model, "--json", *QUICK)
    check(done.returncode == 0, f"exit status {done.returncode}")
    calls = pathlib.Path(str(copy.launcher) + ".calls").read_text().splitlines()
    for expression in (r".* measure put\.8\.blocking 3",
                       rf".* measure emu\.put\.8 3 {model} 6008\.0+ 8\.0+ 1 1",
                       rf".* measure emu\.put\.65536\.flood 3 {model} 71536\.0+ 65536\.0+ 64 1"):
        check(any(re.fullmatch(expression, call) for call in calls), f"no call is: {expression}")


def test_one_processor(gexperf):
    if shutil.which("taskset") is None:
        print("gexperf_test.py: skipped: there is no taskset")
        sys.exit(77)
    processor = str(min(os.sched_getaffinity(0)))
    refused(1, "gexperf: needs two processors, and may use 1",
            "taskset", "-c", processor, gexperf, "put", *QUICK)


if __name__ == "__main__":
    globals()[f"test_{sys.argv[1]}"](*sys.argv[2:])
