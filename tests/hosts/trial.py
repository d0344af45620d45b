"""One job that something is done to, and what has to hold of its end; faults.py."""

import os
import re
import subprocess
import time

import launchers
import namespaces
from hosts_test import Job

RANKS_A_HOST = 2
ANYTHING = ""
# What is known of libfabric's providers differs, and was found out with this one.
OFI = {"GEX_OFI_PROVIDER": "tcp;ofi_rxm"}
CHECKS = ("ended", "in time", "status", "named", "clean")


class Impossible(Exception):
    """This machine does not let us do that to a job."""


class IfAny(str):
    """An expression for the only line that there may be."""


class Each(str):
    """An expression for lines of which there is at least one, and none twice."""


class Fault:
    """`do` does it to a running job. `status`: wanted of the launcher, None: any but 0. `line`: an
    expression for the line that is wanted on standard error, None: no line at all, IfAny: that one or
    none, Each: several of which none is repeated, ANYTHING: whatever. `or_ends`: another status and
    line that are as good. `within`: seconds from the fault to the end. `launcher_ends`: the launcher
    by itself, once all ranks have. `waits`: `do` is for when all ranks are ready. `late_host`: the
    second host does not reach the root of the job before `do` lets it. `conduit`: the network of a job
    that has one; `mpi`: the MPI of its network mpi. `checked`: by the library, which then notes calls. `neighbors`: the ranks of a host
    share memory. `counted`: an expression for a line that the job prints, which is shown. `repeats`:
    what it does is tried elsewhere too, by another launcher or over another network."""

    def __init__(self, name, do, status, line, scenario=("stay",), waits=True, late_host=False,
                 program="launch_probe", hosts=3, conduit=None, mpi=None, checked=False, counted=None,
                 neighbors=True, launcher=launchers.Gexrun(), launcher_ends=True, or_ends=None,
                 within=5, repeats=False):
        self.name = name
        self.program = program
        self.hosts = hosts
        self.environment = {"GEX_CONDUIT": conduit} if conduit else {}
        if conduit == "ofi":
            self.environment.update(OFI)
        if mpi:
            self.environment["GEX_MPI"] = mpi
        if checked:
            self.environment["GEX_CHECK"] = "1"
        if not neighbors:
            self.environment["GASNET_SUPERNODE_MAXSIZE"] = "1"
        self.counted = counted
        self.launcher = launcher
        self.launcher_ends = launcher_ends
        self.do = do
        self.ends = [(status, line), *([or_ends] if or_ends else [])]
        self.scenario = scenario
        self.waits = waits
        self.late_host = late_host
        self.within = within
        self.repeats = repeats


class Trial:
    """A job that a fault is done to."""

    def __init__(self, job, fault):
        self.job = job
        self.program = fault.program
        self.launcher = fault.launcher
        self.ends = fault.launcher_ends
        self.hosts = job.network.hosts
        self.front = job.network.front
        self.senders = []  # of garbage
        self.lines = ""
        # Under another process group, so that signals to the launcher are for it alone.
        words = [job.tool(fault.program), *fault.scenario]
        self.process = subprocess.Popen(
            self.launcher.command(job, RANKS_A_HOST, words, variables=fault.environment),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, cwd=job.build,
            env={**os.environ, **fault.environment, **self.launcher.environment(job)})
        self.begun = time.monotonic()

    def wait_for_line(self, start):
        line = self.process.stdout.readline()
        if not line.startswith(start):
            self.process.kill()
            raise RuntimeError(f"not {start}: {line}{self.process.stderr.read()}")
        self.lines += line
        self.begun = time.monotonic()

    def wait_until_ready(self):
        for _ in range(RANKS_A_HOST * len(self.hosts)):
            self.wait_for_line("ready")

    def rank_processes(self, host):
        """The ranks on a host, by the ids that they have on this machine."""
        inside = namespaces.namespace_of(host.init, "pid")
        return sorted(process for process, name in host.named_processes(ended=False).items()
                      if name == self.program and
                      namespaces.namespace_of(process, "pid") == inside)

    def finish(self):
        """The time from the fault to the end, and all that was printed; no time: it never ended. When
        another's launcher ends is its own affair, if only it does."""
        alive = [host for host in self.hosts if host.alive()]
        known = [one.pid for one in (self.process, *self.senders)]
        try:
            namespaces.wait_for(lambda: not any(self.launcher.processes(host) for host in alive),
                                "an end", 30)
            took = time.monotonic() - self.begun
            if not self.ends:
                self.give_up(alive)
            self.process.wait(30)
            namespaces.wait_for(lambda: not self.launcher.processes(self.front, known), "an end", 30)
            if self.launcher.is_ours:
                took = time.monotonic() - self.begun
        except (subprocess.TimeoutExpired, TimeoutError):
            took = None
            launchers.end(self.process, alive)
        output, errors = self.process.communicate()
        for sender in self.senders:
            sender.communicate()
        return took, self.lines + output, errors

    def give_up(self, alive):
        """Ends a launcher that does not by itself, once it had the time to pass on what was printed."""
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            launchers.end(self.process, alive)


def is_named_once(errors, wanted, launcher):
    """The wanted line, once, and none that repeats another. What another's launcher prints beside that
    is its own affair."""
    lines = [line for line in errors.splitlines() if launcher.is_ours or line.startswith("gex: ")]
    if wanted is ANYTHING:
        return True
    if wanted is None:
        return not lines
    found = sum(1 for line in lines if re.search(wanted, line))
    if isinstance(wanted, IfAny):
        return found == len(lines) <= 1
    enough = found >= 1 if isinstance(wanted, Each) else found == 1
    return enough and len(set(lines)) == len(lines)


class Outcome:
    """The outcome of one fault. `wrong`: what did not hold; `status`: the launcher's, if it came to
    one; `counted`: what the job has counted."""

    def __init__(self, wrong, took=None, status=None, counted=""):
        self.wrong = wrong
        self.took = took
        self.status = status
        self.counted = counted


def attempt(fault, build, counters):
    """Tries a fault once and counts what held."""
    with namespaces.Network(fault.hosts, build) as network:
        job = Job(network, build)
        if fault.late_host:
            network.hosts[1].lose_way_to(fault.launcher.root(network)[1])
        try:
            with fault.launcher.ready(job):
                return try_on(job, fault, counters)
        except (RuntimeError, TimeoutError) as error:
            return Outcome(f"{fault.name}: {error}")


def try_on(job, fault, counters):
    trial = Trial(job, fault)
    try:
        if fault.waits:
            trial.wait_until_ready()
        fault.do(trial)
    except (RuntimeError, TimeoutError, Impossible):
        trial.process.kill()
        trial.finish()
        raise
    took, output, errors = trial.finish()
    status = trial.process.returncode
    counted = [line for line in (output + errors).splitlines()
               if fault.counted and re.search(fault.counted, line)]
    matching = [line for wanted, line in fault.ends
                if status == wanted or (wanted is None and status != 0)]
    places = [trial.front, *(host for host in trial.hosts if host.alive())]
    held = {"ended": took is not None,
            "in time": took is not None and took <= fault.within,
            "status": bool(matching) and bool(counted or not fault.counted),
            "named": is_named_once(errors, (matching or [fault.ends[0][1]])[0], fault.launcher),
            "clean": not any(fault.launcher.leftovers(place) for place in places)}
    for check, holds in held.items():
        counters[check] += holds
    wrong = [check for check, holds in held.items() if not holds]
    return Outcome(f"{fault.name}: not {', '.join(wrong)}: status {status}, {took} s\n{output}{errors}"
                   if wrong else "", took, status, "".join(counted))
