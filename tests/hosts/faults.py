#!/usr/bin/env python3
"""What goes wrong on purpose, and what came of it: `make faults` prints the table.

    faults.py --bin BUILD_FOLDER [--times N]

Each fault is tried N times on a job of three hosts, or two, with two ranks each (namespaces.py). Each
time is checked, and counted in the table's columns:

  ended     gexrun ended by itself, and all ranks with it
  in 5 s    so long after the fault at most
  status    its exit status is the one that the fault asks for
  named     the one message that was wanted is among the lines, and no line is repeated
  clean     no process, no file in any /dev/shm or /tmp is left

Below a fault that the job has to survive stands what the job itself has counted (fault_probe.cc).

Exits with 77 where the machine does not let us make such hosts, with 1 when something did not hold.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

import launchers
import namespaces
from hosts_test import Job

RANKS_A_HOST = 2
ANYTHING = ""
CHECKS = ("ended", "in 5 s", "status", "named", "clean")


class Trial:
    """One job that a fault is done to."""

    def __init__(self, job, fault):
        self.job = job
        self.program = fault.program
        self.launcher = fault.launcher
        self.ends = fault.launcher_ends
        self.hosts = job.network.hosts
        self.strangers = []
        # Under another process group, so that signals to the launcher are for it alone.
        words = [job.tool(fault.program), *fault.scenario]
        self.process = subprocess.Popen(
            self.launcher.command(job, RANKS_A_HOST, words), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            cwd=job.build, env={**os.environ, **fault.environment, **self.launcher.environment(job)})
        self.begun = time.monotonic()

    def wait_for_line(self, start):
        line = self.process.stdout.readline()
        if not line.startswith(start):
            self.process.kill()
            raise RuntimeError(f"not {start}: {line}{self.process.stderr.read()}")
        self.begun = time.monotonic()

    def wait_until_ready(self):
        for _ in range(RANKS_A_HOST * len(self.hosts)):
            self.wait_for_line("ready")

    def rank_processes(self, host):
        """The ranks on a host, by the ids that this machine knows them by."""
        inside = os.readlink(f"/proc/{host.init}/ns/pid")
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/comm", encoding="utf-8") as comm:
                    if (comm.read().strip() == self.program and
                            os.readlink(f"/proc/{entry}/ns/pid") == inside):
                        found.append(int(entry))
            except OSError:
                pass
        return sorted(found)

    def finish(self):
        """The time from the fault to the end, and all that was printed; no time: it never ended. When
        another's launcher ends is its own affair, if only it does."""
        alive = [host for host in self.hosts if host.alive()]
        try:
            namespaces.wait_for(lambda: not any(self.launcher.processes(host) for host in alive),
                                "an end", 30)
            took = time.monotonic() - self.begun
            if not self.ends:
                launchers.end(self.process, alive)
            self.process.wait(30)
            if self.launcher.is_ours:
                took = time.monotonic() - self.begun
        except (subprocess.TimeoutExpired, TimeoutError):
            took = None
            launchers.end(self.process, alive)
        output, errors = self.process.communicate()
        for stranger in self.strangers:
            stranger.communicate()
        return took, output, errors


class Fault:
    """`do` does it to a running job. `status`: wanted of the launcher, None: any but 0. `said`: an
    expression for the line that is wanted on standard error, None: no line at all, ANYTHING:
    whatever. `launcher_ends`: the launcher by itself, once all ranks have. `conduit`: the network of
    a job that has one. `checked`: by the library, which then notes calls. `neighbors`: the ranks of
    a host share memory. `counted`: an expression
    for a line that the job prints, which is shown."""

    def __init__(self, name, do, status, said, scenario=("stay",), waits=True, harmless=False,
                 program="launch_probe", hosts=3, conduit=None, checked=False, counted=None,
                 neighbors=True, launcher=launchers.Gexrun(), launcher_ends=True):
        self.name = name
        self.program = program
        self.hosts = hosts
        self.environment = {"GEX_CONDUIT": conduit} if conduit else {}
        if checked:
            self.environment["GEX_CHECK"] = "1"
        if not neighbors:
            self.environment["GASNET_SUPERNODE_MAXSIZE"] = "1"
        self.counted = counted
        self.launcher = launcher
        self.launcher_ends = launcher_ends
        self.do = do
        self.status = status
        self.said = said
        self.scenario = scenario
        self.waits = waits
        self.harmless = harmless


def kill_rank(number):
    def kill(trial):
        os.kill(trial.rank_processes(trial.hosts[1])[0], number)
    return kill


def kill_launcher(trial):
    os.kill(trial.process.pid, signal.SIGKILL)


def interrupt_launcher(trial):
    os.kill(trial.process.pid, signal.SIGINT)


def kill_guardian(trial):
    rank = trial.rank_processes(trial.hosts[1])[0]
    with open(f"/proc/{rank}/stat", encoding="ascii") as stat:
        os.kill(int(stat.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)


def kill_adopting_guardian(trial):
    trial.hosts[1].call("pkill", "-KILL", "-x", "gex-guardian")


def root_port(trial):
    """The port on which gexrun listens; only while a host is still missing."""
    def find():
        listing = trial.job.network.front.call("ss", "-Hltn")
        return re.findall(r":(\d+)\s", listing)
    namespaces.wait_for(find, "a port")
    return int(find()[0])


def strangers(words):
    """Others than the guardians talk to the root while the hosts are on their way."""
    def talk(trial):
        port = root_port(trial)
        script = ("import socket,sys\n"
                  "held=[]\n"
                  "for i in range(100):\n"
                  f" one=socket.create_connection(('{namespaces.FRONT_ADDRESS}',{port}))\n"
                  f" one.sendall({words!r})\n"
                  " held.append(one)\n")
        trial.hosts[2].call(sys.executable, "-c", script)
        trial.wait_until_ready()
        os.kill(trial.process.pid, signal.SIGTERM)
        trial.begun = time.monotonic()
    return talk


def ports(namespace):
    """Where something listens in the network of the front end or of a host: kind, address, port."""
    found = []
    for line in namespace.call("ss", "-Hltun").splitlines():
        kind, _, _, _, place = line.split()[:5]
        found.append((kind, *place.rsplit(":", 1)))
    return found


def expect_no_ports(trial):
    """Of libgex itself nothing listens while a job runs, on any host."""
    for namespace in (trial.job.network.front, *trial.hosts):
        found = ports(namespace)
        if found:
            raise RuntimeError(f"a port is open: {found}")
    end_talk(trial)


def begin_talk(trial):
    """All ranks talk with all others from here on."""
    trial.process.send_signal(signal.SIGUSR1)
    trial.wait_for_line("talking")


def end_talk(trial):
    """All ranks talk with all others, and then end."""
    begin_talk(trial)
    trial.process.send_signal(signal.SIGUSR1)


def amid_talk(do):
    """The same while the network between the ranks is in use."""
    def talk(trial):
        begin_talk(trial)
        trial.begun = time.monotonic()
        do(trial)
    return talk


def rank_ports(trial):
    if ports(trial.job.network.front):
        raise RuntimeError("a port is open on the front end")
    found = [place for host in trial.hosts for place in ports(host)]
    if len(found) != RANKS_A_HOST * len(trial.hosts):
        raise RuntimeError(f"not one port for each rank: {found}")
    return found


def all_are_heard(trial):
    """No connection waits for a rank to accept it."""
    return all(line.split()[2] == "0" for host in trial.hosts
               for line in host.call("ss", "-Hltun").splitlines())


def garbage_at_ports(trial):
    """Before the ranks have connected with all others, and while they talk; some of the strangers'
    connections stay until the job has ended."""
    front = trial.job.network.front
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stranger.py")

    def babble():
        several = [subprocess.Popen([*front.enter(), sys.executable, script, *place],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                   for place in rank_ports(trial)]
        trial.strangers += several
        for one in several:
            if one.stdout.readline() != "said\n":
                raise RuntimeError("a stranger could not speak")
        namespaces.wait_for(lambda: all_are_heard(trial), "the ranks still accept connections")
    babble()
    begin_talk(trial)
    babble()
    trial.process.send_signal(signal.SIGUSR1)
    trial.begun = time.monotonic()


def messages_without_cookie(trial):
    """Strangers that speak libfabric's protocol."""
    for _, address, port in rank_ports(trial):
        trial.job.network.front.call(trial.job.tool("ofi_stranger"), "tcp;ofi_rxm", address, port)
    end_talk(trial)


def wait_for_silence(trial):
    trial.wait_for_line("awake")


def flood(name, conduit, kib_a_peer, scenario="flood"):
    """Each rank has three peers and 2 MiB to receive into. What it keeps for a neighbor is less than for
    one over a network; puts and gets between neighbors are copies, which nothing holds back."""
    return Fault(f"peer does not poll for 10 s, {name}", wait_for_silence, 0, None,
                 (scenario, "10", str(3 * kib_a_peer + 2048)), waits=False, program="fault_probe",
                 hosts=2, conduit=conduit, counted=r"of the flood",
                 neighbors=scenario == "flood")


def ends_amid_talk(name, conduit, checks):
    """What ends a job whose ranks talk over a network, which often is the first to notice; but the
    one who knows what has happened says it."""
    talking = {"scenario": ("serve",), "program": "fault_probe", "hosts": 2, "conduit": conduit}
    yield Fault(f"rank killed amid talk, {name}", amid_talk(kill_rank(signal.SIGKILL)), 137,
                KILLED + (CALL if checks else "") + "$", **talking)
    yield Fault(f"rank killed amid talk, checked, {name}", amid_talk(kill_rank(signal.SIGKILL)), 137,
                KILLED + CALL + "$", checked=True, **talking)
    yield Fault(f"rank at fault amid talk, {name}", amid_talk(kill_rank(signal.SIGSEGV)), 139,
                AT_FAULT, **talking)
    yield Fault(f"link down amid talk, {name}", amid_talk(lambda trial: trial.hosts[1].cut()), 1,
                LOST + "nothing has been heard of it for 4 s$", **talking)
    yield Fault(f"host gone amid talk, {name}", amid_talk(lambda trial: trial.hosts[1].kill()), 1,
                LOST, **talking)
    yield Fault(f"guardian killed amid talk, {name}", amid_talk(kill_guardian), 1,
                LOST + "the connection to it has ended$", **talking)
    yield Fault(f"launcher killed amid talk, {name}", amid_talk(kill_launcher), -signal.SIGKILL,
                None, **talking)
    yield Fault(f"launcher interrupted amid talk, {name}", amid_talk(interrupt_launcher), 130,
                INTERRUPTED, **talking)
    for how, status, said in (("exit", 3, EXITED), ("success", 1, MISSED), ("_exit", 4, UNSAID_END),
                              ("gasnet_exit", 5, None)):
        yield Fault(f"rank leaves by {how} amid talk, {name}", amid_talk(lambda trial: None), status,
                    said, **{**talking, "scenario": ("serve", how)})


def network_faults(build, checks):
    """Over the tests' TCP conduit, and over libfabric where that is there."""
    tcp = os.path.join(build, "tests/bin/libgex-tcp.so")
    # Its constants: for each channel eight messages to send and two that arrive, of 64 KiB, in
    # memory that grows by doubling.
    kib_a_peer = 2 * (8 + 2) * 64 * 2
    yield flood("tcp", tcp, kib_a_peer)
    # These go by messages.
    yield flood("puts and gets over tcp", tcp, kib_a_peer, "flood-rma")
    serve = {"scenario": ("serve",), "program": "fault_probe", "hosts": 2,
             "counted": "rounds of all ranks"}
    yield Fault("ports open while a job runs: none", expect_no_ports, 0, None, conduit=tcp, **serve)
    yield from ends_amid_talk("tcp", tcp, checks)
    if not os.path.exists(os.path.join(build, "lib/libgex-ofi.so")):
        return
    yield from ends_amid_talk("ofi", "ofi", checks)
    facts = subprocess.run([os.path.join(build, "bin/gexinfo")], stdout=subprocess.PIPE, text=True,
                           check=True, env={**os.environ, "GEX_CONDUIT": "ofi"}).stdout
    kib_a_peer = int(re.search(r"at most (\d+) KiB a\s+peer", facts)[1])
    yield flood("ofi", "ofi", kib_a_peer)
    # The provider may keep a buffer of its own for each, of which a page or two are touched.
    operations = int(re.search(r"at most (\d+)\s+puts", facts)[1])
    yield flood("puts and gets over ofi", "ofi", kib_a_peer + 8 * operations, "flood-rma")
    yield Fault("garbage at libfabric's ports", garbage_at_ports, 0, None, conduit="ofi", **serve)
    yield Fault("messages without the job's cookie", messages_without_cookie, 0,
                r"^gex: rank 0: warning: ofi: rank 0 drops messages that are not of this job; "
                r"said once$", conduit="ofi", **serve)


def faults_under_others(no_pmix):
    """Ranks of other launchers that are there. Of a death these know first, say so themselves, and may
    end before our line has come through them."""
    for launcher in launchers.OF_OTHERS:
        if not launcher.installed() or (no_pmix and launcher.by_pmix):
            continue
        on_two = {"hosts": 2, "launcher": launcher}
        yield Fault(f"rank killed, {launcher.name}", kill_rank(signal.SIGKILL), None, ANYTHING,
                    counted=launcher.tells_of_death, **on_two)
        yield Fault(f"link down, {launcher.name}", lambda trial: trial.hosts[1].cut(), None,
                    LOST.replace("gexrun", "gex") + "nothing has been heard of it for 4 s$",
                    launcher_ends=launcher.notices_lost_host, **on_two)
        yield Fault(f"guardian killed, {launcher.name}", kill_adopting_guardian, None, ANYTHING,
                    **on_two)
        if launcher.ends_job:
            yield Fault(f"launcher killed, {launcher.name}", kill_launcher, None, None, **on_two)


HEADER = b"gexhost1" + bytes(40)
LOST = r"^gexrun: host host2 \(ranks 2,3\) is lost: "
KILLED = r"^gexrun: rank [23] \(host host2, pid \d+\) was killed by signal 9 \(Killed\)"
CALL = r" (while in|after) (gex_\w+|gasnet_AMPoll)"
AT_FAULT = r"^gexrun: rank [23] \(host host2, pid \d+\) was killed by signal 11 "
UNSAID_END = (r"^gexrun: rank 2 \(host host2, pid \d+\) ended with status 4( (while in|after) \w+)? "
              "without leaving the job$")
EXITED = r"^gexrun: rank 2 \(host host2, pid \d+\) returned 3 from main or called exit\(3\)$"
MISSED = (r"^gexrun: rank 2 \(host host2, pid \d+\) returned from main or called exit\(0\) with a "
          r"collective call still to do with ranks ")
INTERRUPTED = r"^gexrun: ended by signal 2 \(Interrupt\)$"
REFUSED = r"^gexrun: refused a connection from .* that does not know the job's secret"

FAULTS = [
    Fault("rank killed (SIGKILL)", kill_rank(signal.SIGKILL), 137,
          KILLED + "$"),
    Fault("rank killed (SIGSEGV)", kill_rank(signal.SIGSEGV), 139,
          AT_FAULT),
    Fault("rank exits with status 3", lambda trial: None, 3, EXITED, ("exit-with", "3", "2"), False),
    Fault("rank ends at once with 4", lambda trial: None, 4,
          r"^gexrun: rank 2 \(host host2, pid \d+\) ended with status 4 without leaving the job$",
          ("exit-at-once", "4", "2"), False),
    Fault("rank returns before a collective call", lambda trial: None, 1, MISSED + "0,1,3-5$",
          ("return-before-barrier", "2"), False),
    Fault("rank executes another program", lambda trial: None, 1,
          r"^gexrun: rank 1 \(host host1, pid \d+\) has closed its connection to the job",
          ("become-other",), False),
    Fault("rank sends nonsense to its guardian", lambda trial: None, 1,
          r"^gexrun: rank \d \(host host\d, pid \d+\) ", ("babble", "1"), False),
    Fault("guardian of a host killed", kill_guardian, 1, LOST + "the connection to it has ended$"),
    Fault("host's link down", lambda trial: trial.hosts[1].cut(), 1,
          LOST + "nothing has been heard of it for 4 s$"),
    Fault("host gone", lambda trial: trial.hosts[1].kill(), 1, LOST),
    Fault("launcher killed (SIGKILL)", kill_launcher, -signal.SIGKILL, None),
    Fault("launcher interrupted", interrupt_launcher, 130, INTERRUPTED),
    Fault("garbage at the root's port", strangers(b"GET / HTTP/1.0\r\n\r\n" * 500), 143, REFUSED,
          waits=False, harmless=True),
    Fault("greeting without the secret", strangers(HEADER), 143, REFUSED, waits=False,
          harmless=True),
    Fault("greeting cut short", strangers(HEADER[:20]), 143, REFUSED, waits=False, harmless=True),
]


def said_once(errors, wanted, launcher):
    """The wanted line, once, and none that repeats another. What another's launcher says beside that
    is its own affair."""
    lines = [line for line in errors.splitlines() if launcher.is_ours or line.startswith("gex: ")]
    if wanted is ANYTHING:
        return True
    if wanted is None:
        return not lines
    return (sum(1 for line in lines if re.search(wanted, line)) == 1 and
            len(set(lines)) == len(lines))


def attempt(fault, build, counters):
    """Tries a fault once and counts what held. Returns the time, what did not hold, and what the job
    has counted."""
    with namespaces.Network(fault.hosts, build) as network:
        job = Job(network, build)
        if fault.harmless:
            # The second host comes late, so that the root listens for a while.
            with open(network.rsh, encoding="utf-8") as script:
                text = script.read()
            with open(network.rsh, "w", encoding="utf-8") as script:
                script.write(text.replace("host2)", "host2) sleep 7;"))
        try:
            with fault.launcher.ready(job):
                return try_on(job, fault, counters)
        except (RuntimeError, TimeoutError) as error:
            return None, f"{fault.name}: {error}", ""


def try_on(job, fault, counters):
    trial = Trial(job, fault)
    try:
        if fault.waits:
            trial.wait_until_ready()
        fault.do(trial)
    except (RuntimeError, TimeoutError):
        trial.process.kill()
        trial.finish()
        raise
    took, output, errors = trial.finish()
    counted = [line for line in (output + errors).splitlines()
               if fault.counted and re.search(fault.counted, line)]
    alive = [host for host in job.network.hosts if host.alive()]
    held = {"ended": took is not None,
            "in 5 s": took is not None and took <= 5,
            "status": (trial.process.returncode == fault.status if fault.status is not None
                       else trial.process.returncode != 0) and bool(counted or not fault.counted),
            "named": said_once(errors, fault.said, fault.launcher),
            "clean": not any(fault.launcher.leftovers(host) for host in alive)}
    for check, holds in held.items():
        counters[check] += holds
    wrong = [check for check, holds in held.items() if not holds]
    return took, (f"{fault.name}: not {', '.join(wrong)}: status {trial.process.returncode}, "
                  f"{took} s\n{output}{errors}" if wrong else ""), "".join(counted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--checks", action="store_true",
                        help="the build's library checks, and so tells a dead rank's last call")
    parser.add_argument("--no-pmix", action="store_true",
                        help="leaves out the launchers that speak PMIx: see tests/jobs/launch")
    options = parser.parse_args()
    build = os.path.abspath(options.bin)
    complaints = []
    print(f"{'fault':40} {'tried':>6}" + "".join(f"{check:>8}" for check in CHECKS) + "  longest")
    try:
        under_others = faults_under_others(options.no_pmix)
        for fault in [*FAULTS, *under_others, *network_faults(build, options.checks)]:
            if options.only not in fault.name:
                continue
            counters = dict.fromkeys(CHECKS, 0)
            longest = 0.0
            for _ in range(options.times):
                took, complaint, counted = attempt(fault, build, counters)
                longest = max(longest, took or 0)
                if complaint:
                    complaints.append(complaint)
            print(f"{fault.name:40} {options.times:6}" +
                  "".join(f"{counters[check]:8}" for check in CHECKS) + f"  {longest:5.2f} s" +
                  (f"\n  {counted}" if counted else ""), flush=True)
    except namespaces.Forbidden as error:
        print(f"skipped: no hosts can be made of namespaces here: {error}")
        return namespaces.SKIPPED
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
