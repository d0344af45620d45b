#!/usr/bin/env python3
"""Lets a program hang and reads what gexrun reports of it.

  hang_test.py GEXRUN PROBE WAY [NETWORK]

NETWORK: shared_memory (the default), emu, ofi, hosts (two, of one rank each, reached by an rsh that
runs on this one), tree (these, of which one starts the other), or mpirun.mpich or mpirun.openmpi,
which starts ranks that share memory. Fails unless the report names which ranks wait, for what and
for whom.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HANG_AFTER = 1.0


def fail(text):
    raise AssertionError(text)


def expect(condition, text, report):
    if not condition:
        fail(text + "\n" + json.dumps(report, indent=1))


def wait_of(report, rank):
    waits = [wait for wait in report["waits"] if wait["rank"] == rank]
    expect(waits, f"rank {rank} does not wait", report)
    return waits[0]


def culprit_of(report, rank):
    found = [culprit for culprit in report["culprits"] if culprit["rank"] == rank]
    expect(found, f"rank {rank} is not named", report)
    return found[0]["what"]


def expect_wait(report, rank, kind, waits_for, call=None, **fields):
    wait = wait_of(report, rank)
    expect(wait["kind"] == kind, f"rank {rank} waits for a {wait['kind']}, not a {kind}", report)
    expect(wait["waits_for"] == waits_for, f"rank {rank} waits for {wait['waits_for']}", report)
    if call is not None:
        expect(call in (wait["call"] or ""), f"rank {rank} is in {wait['call']}", report)
    for name, value in fields.items():
        expect(wait[name] == value, f"{name} is {wait[name]}, not {value}", report)
    expect(wait["age_s"] is None or wait["age_s"] >= 0, "an age below 0", report)
    expect(wait["age_s"] is not None, f"the age of rank {rank}'s wait is not known", report)
    return wait


def expect_running(report, rank):
    expect("computes, or is in a loop" in culprit_of(report, rank),
           f"rank {rank} runs, and is not reported to", report)


def expect_missing_barrier(report):
    # Two barriers of the team were over before: one of the set-up of segments does not count.
    expect_wait(report, 0, "barrier", [1], "gex_Coll_BarrierNB", sequence=2)
    expect_running(report, 1)


def missing_barrier(report):
    expect_missing_barrier(report)
    # The handler that has noted the stack is no part of it.
    first = report["ranks"][1]["threads"][0]["backtrace"].splitlines()[0]
    expect("hang_probe" in first, f"the stack begins with {first}", report)


def expect_stack(report, rank, function):
    stacks = [thread.get("backtrace", "") for thread in report["ranks"][rank]["threads"]]
    expect(any(function in stack for stack in stacks), f"no stack with {function}", report)


def missing_barrier_sleeping(report):
    expect_wait(report, 0, "barrier", [1])
    expect("sleeps outside the library" in culprit_of(report, 1), "rank 1 sleeps", report)
    expect_stack(report, 0, "libgex")
    sleeper = report["ranks"][1]["threads"][0]
    expect(sleeper["state"] == "S", "it was not seen asleep", report)
    expect("nanosleep" in sleeper.get("system_call", "nanosleep"), "another sleep", report)
    expect("backtrace" not in sleeper, "its sleep has been disturbed", report)


def mismatched_collective(report):
    expect(len(report["mismatches"]) == 1, "no mismatch", report)
    what = report["mismatches"][0]["what"]
    expect("gex_Coll_BroadcastNB on rank 0" in what, what, report)
    expect("gex_Coll_ReduceToOneNB on rank 1" in what, what, report)


def missing_collective(report):
    expect_wait(report, 0, "collective", [1], "gasnet_coll_broadcast", sequence=1)
    expect_running(report, 1)


def barrier_against_collective(report):
    expect_wait(report, 0, "barrier", [1])
    expect_wait(report, 1, "collective", [0], "gex_Coll_ReduceToAllNB", sequence=1)
    expect(report["circles"] == [[0, 1]], "no circle", report)


def endless_handler(report):
    expect_wait(report, 0, "barrier", [1])
    expect("is in a handler that has not returned" in culprit_of(report, 1), "no handler", report)


def lost_reply(report):
    wait = wait_of(report, 0)
    expect(wait["kind"] == "condition", "another wait", report)
    expect("for a message that has not come" in wait["why"], wait["why"], report)
    expect(wait["waits_for"] == [], "it waits for a rank", report)


def no_polls_while_messages_come(report):
    expect_wait(report, 0, "message", [1], "gex_AM_RequestShort", peer=1)
    expect_running(report, 1)


def stopped(report):
    expect_wait(report, 0, "barrier", [1])
    expect("is stopped by a signal" in culprit_of(report, 1), "not stopped", report)
    expect(report["ranks"][1]["state"] == "T", "not T", report)
    expect("backtrace" not in report["ranks"][1]["threads"][0], "a stack of who is stopped", report)


def crossed_teams(report):
    expect_wait(report, 0, "barrier", [1])
    expect_wait(report, 1, "barrier", [0])
    expect(report["circles"] == [[0, 1]], "no circle", report)
    expect(report["waits"][0]["team"] != report["waits"][1]["team"], "one team", report)
    expect("barrier 1 of team A" in report["waits"][0]["why"], "no name", report)
    expect("barrier 1 of team B" in report["waits"][1]["why"], "no name", report)
    made = {team["team"]: team for team in report["ranks"][0]["teams"] if "made_as" in team}
    for wait, number in zip(report["waits"], (1, 2)):
        team = made[wait["team"]]
        expect(team["made_as"] == number and team["made_by"] == "gex_TM_Split", "origin", report)
        expect((team["made_at"] or "").startswith("hang_probe(+0x"), "no place", report)


def missing_split(report):
    expect_wait(report, 0, "agreement", [1])
    expect_running(report, 1)


def missing_notify(report):
    expect_wait(report, 0, "named_barrier", [1], "gasnet_barrier_wait")
    expect_running(report, 1)


def unanswered_get(report):
    expect_wait(report, 0, "get", [1], "gex_RMA_GetBlocking", peer=1, bytes=8)
    expect_running(report, 1)


def unanswered_implicit_puts(report):
    expect_wait(report, 0, "put", [1], "gex_RMA_PutNBI", peer=1, bytes=8)
    operations = [op for op in report["ranks"][0]["operations"] if op["kind"] == "put"]
    expect(len(operations) == 1, "one line for all of them", report)
    expect(operations[0]["implicit_parts"] == 4, "four parts", report)


def unanswered_put_that_is_tested(report):
    operations = report["ranks"][0]["operations"]
    expect(len(operations) == 1, "one operation", report)
    operation = operations[0]
    expect(operation["kind"] == "put" and operation["peer"] == 1, "another", report)
    expect(operation["call"].startswith("gex_RMA_PutNB"), "another call", report)
    expect(operation["age_s"] is not None, "its age is known from the first test", report)


def forgotten_lock(report):
    expect_wait(report, 0, "barrier", [1])
    wait = wait_of(report, 1)
    expect(wait["kind"] == "lock", "no lock", report)


def polls_for_nothing(report):
    expect(report["waits"] == [] and report["culprits"] == [], "a rank waits", report)
    for rank, other in enumerate(report["others"]):
        expect(other == {"rank": rank, "what": "polls in a loop, in which nothing arrives"},
               f"rank {rank} polls", report)
        expect(report["ranks"][rank]["last_call"] is not None, "no last call", report)
        expect_stack(report, rank, "hang_probe")
    threads = [rank["threads"][0] for rank in report["ranks"]]
    expect(threads[0].get("region_open"), "its access region is open", report)
    expect("region_open" not in threads[1], "it has begun none", report)


def peer_has_left(report):
    wait = wait_of(report, 0)
    expect(wait["kind"] == "condition", "another wait", report)
    others = [other for other in report["others"] if other["rank"] == 1]
    expect(len(others) == 1 and "has left the job" in others[0]["what"], "rank 1 left", report)


# Ways that end by themselves after so many seconds, and are not called hung.
NO_HANGS = {"computes": 3 * HANG_AFTER, "polls_that_progress": 3 * HANG_AFTER}


def launched_by(network):
    return network.startswith("mpirun.")


def run(gexrun, probe, way, network, folder):
    report_file = os.path.join(folder, "report.json")
    command = [gexrun, "-n", "2", "--hang-after", str(HANG_AFTER), "--hang-action", "end",
               "--hang-report", report_file]
    environment = dict(os.environ)
    for name in ("GEX_CONDUIT", "GASNET_SUPERNODE_MAXSIZE"):
        environment.pop(name, None)
    if network in ("emu", "ofi"):
        command += ["--conduit", network]
        environment["GASNET_SUPERNODE_MAXSIZE"] = "1"
    if network == "tree":
        environment["GEX_LAUNCH_FANOUT"] = "1"
    if network in ("hosts", "tree"):
        rsh = os.path.join(os.path.dirname(__file__), "..", "launch", "rsh_here.sh")
        command += ["--conduit", "ofi", "--hosts", "one,two", "--rsh", rsh]
    if launched_by(network):
        command = [network, "-n", "2"]
        if network == "mpirun.openmpi":
            command += ["--allow-run-as-root", "--oversubscribe"]
        environment.update(GEX_HANG_AFTER=str(HANG_AFTER), GEX_HANG_ACTION="end",
                           GEX_HANG_REPORT=report_file)
    command += [probe, way, folder]
    if way in NO_HANGS:
        command.append(str(NO_HANGS[way]))
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False,
                          env=environment)
    if done.stdout.count("ready") != 2:
        fail(f"the ranks did not come so far: {done}")
    return done, report_file


def report_on_demand(gexrun, probe, folder):
    """A job that was not started with --hang-after is asked for a report, and goes on."""
    with subprocess.Popen([gexrun, "-n", "2", probe, "missing_barrier", folder],
                          stdout=subprocess.PIPE, text=True) as job:
        try:
            for _ in range(2):
                job.stdout.readline()
            while True:
                asked = subprocess.run([gexrun, "--report", str(job.pid), "--json"],
                                       capture_output=True, text=True, timeout=60, check=True)
                report = json.loads(asked.stdout)
                if report["waits"]:
                    break
            expect_missing_barrier(report)
            # By the process of a rank too, and as text.
            process = report["ranks"][1]["process"]
            asked = subprocess.run([gexrun, "--report", str(process)], capture_output=True,
                                   text=True, timeout=60, check=True)
            expect("which rank 1 has not called" in asked.stdout, asked.stdout, report)
            jobs = subprocess.run([gexrun, "--report"], capture_output=True, text=True, timeout=60,
                                  check=True).stdout
            expect(any(line.startswith(f"{job.pid} {probe}, 2 ranks") for line in
                       jobs.splitlines()), jobs, report)
            expect(job.poll() is None, "the job has ended", report)
        finally:
            job.terminate()
            job.wait(timeout=60)
    asked = subprocess.run([gexrun, "--report", str(os.getpid())], capture_output=True, text=True,
                           timeout=60, check=False)
    if asked.returncode != 1 or "no job of yours" not in asked.stderr:
        fail(f"this process is no job: {asked}")


def suspended(gexrun, probe, folder):
    """A job that is suspended for longer than that is not called hung, and goes on."""
    # In a process group of its own, as a shell would start it.
    with subprocess.Popen([gexrun, "-n", "2", "--hang-after", str(HANG_AFTER), "--hang-action",
                           "end", probe, "computes_and_waits", folder, str(HANG_AFTER / 2)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          process_group=0) as job:
        for _ in range(2):
            job.stdout.readline()
        job.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, job.pid, os.WSTOPPED | os.WNOWAIT)
        time.sleep(3 * HANG_AFTER)
        job.send_signal(signal.SIGCONT)
        _, errors = job.communicate(timeout=60)
        if job.returncode != 0 or "no progress" in errors:
            fail(f"a suspended job was called hung: {job.returncode}: {errors}")


def main():
    gexrun, probe, way = sys.argv[1:4]
    network = sys.argv[4] if len(sys.argv) > 4 else "shared_memory"
    with tempfile.TemporaryDirectory() as folder:
        if way in ("suspended", "report_on_demand"):
            globals()[way](gexrun, probe, folder)
            return
        done, report_file = run(gexrun, probe, way, network, folder)
        if way in NO_HANGS:
            if done.returncode != 0 or os.path.exists(report_file):
                fail(f"it was called hung: {done}")
            return
        # What the status is that another launcher makes of it is its own matter.
        if done.returncode == 0 or done.returncode != 1 and not launched_by(network):
            fail(f"the status is {done.returncode}: {done.stderr}")
        if "woken" in done.stdout:
            fail(f"the sleeping rank was woken: {done}")
        if way == "polls_for_nothing":
            if "polls without progress" not in done.stderr:
                fail(f"it was not noticed what hangs: {done.stderr}")
        elif "no progress" not in done.stderr:
            fail(f"no line reports it: {done.stderr}")
        option = "GEX_HANG_ACTION=end" if launched_by(network) else "--hang-action end"
        if f"is ended ({option})" not in done.stderr:
            fail(f"no line has the reason why it is ended: {done.stderr}")
        with open(report_file, encoding="utf-8") as file:
            report = json.load(file)
        expect([rank["rank"] for rank in report["ranks"]] == [0, 1], "not both ranks", report)
        globals()[way](report)


if __name__ == "__main__":
    main()
