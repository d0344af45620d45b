#!/usr/bin/env python3
"""Faults that are caused on purpose, and their outcomes: `make faults` prints the table.

    faults.py --bin BUILD_FOLDER [--times N]

Each fault is tried N times on a job of three hosts, or two, with two ranks each (namespaces.py). Each
time is checked, and counted in the table's columns:

  ended     gexrun ended by itself, and all ranks with it
  in time   5 s after the fault at most (8 where connections break, which no other process reports), or
            after the end of one that the job survives
  status    its exit status is the one that the fault asks for
  named     the one message that was wanted is among the lines, and no line is repeated
  clean     no process, no file in /dev/shm or /tmp is left, of any host and of the front end

Below a fault that the job has to survive stands what the job itself has counted (fault_probe.cc), and
below one that may end it or not, how often it did.

Exits with 77 where the machine does not let us make such hosts, with 1 when something did not hold.
"""

import argparse
import collections
import os
import re
import signal
import subprocess
import sys
import time

import launchers
import namespaces
from trial import ANYTHING, CHECKS, Each, Fault, IfAny, Impossible, OFI, RANKS_A_HOST, attempt


def signal_rank(number):
    return lambda trial: os.kill(trial.rank_processes(trial.hosts[1])[0], number)


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


def kill_root(trial):
    trial.hosts[0].call("pkill", "-KILL", "-x", "gex-root")


def have_rank_leave(trial):
    """Rank 2, as the scenario asks; the other of the host does not heed it."""
    for process in trial.rank_processes(trial.hosts[1]):
        os.kill(process, signal.SIGUSR1)


def root_port(place, name):
    """The port on which the root listens; only while a host is still missing."""
    def find():
        return re.findall(rf':(\d+)\s.*"{name}"', place.call("ss", "-Hltnp"))
    namespaces.wait_for(find, "a port")
    return int(find()[0])


def garbage_at_root(words):
    """Others than the guardians send to the root while a host is on its way."""
    def talk(trial):
        place, address, name = trial.launcher.root(trial.job.network)
        script = ("import socket,sys\n"
                  "held=[]\n"
                  "for i in range(100):\n"
                  f" one=socket.create_connection(('{address}',{root_port(place, name)}))\n"
                  f" one.sendall({words!r})\n"
                  " held.append(one)\n")
        elsewhere = trial.hosts[0] if place is trial.front else trial.front
        elsewhere.call(sys.executable, "-c", script)
        trial.hosts[1].find_way_to(address)
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
    """No process of libgex listens while a job runs, on any host."""
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
    """Returns `do` as a fault that occurs while the network between the ranks is in use."""
    def talk(trial):
        begin_talk(trial)
        trial.begun = time.monotonic()
        do(trial)
    return talk


def for_a_while(seconds, begin, end):
    """Between rounds of talk."""
    def go_through(trial):
        time.sleep(0.3)
        begin(trial)
        time.sleep(seconds)
        end(trial)
        trial.begun = time.monotonic()
        trial.process.send_signal(signal.SIGUSR1)
    return go_through


def kill_rank_beside_frozen(trial):
    os.kill(trial.rank_processes(trial.hosts[0])[0], signal.SIGSTOP)
    signal_rank(signal.SIGKILL)(trial)


def break_connections(trial):
    """Breaks the connections between the ranks of two hosts. Where the job goes on it is to end well."""
    one, other = trial.hosts
    if not one.call("ss", "-HKtn", "dst", other.address):
        raise Impossible("connections cannot be broken")
    try:
        trial.process.wait(8)
    except subprocess.TimeoutExpired:
        trial.begun = time.monotonic()
        trial.process.send_signal(signal.SIGUSR1)


def rank_ports(trial):
    if ports(trial.job.network.front):
        raise RuntimeError("a port is open on the front end")
    # Only those that others reach: UCX listens at the loopback, too.
    found = [place for host in trial.hosts for place in ports(host)
             if not place[1].startswith("127.")]
    if len(found) != RANKS_A_HOST * len(trial.hosts):
        raise RuntimeError(f"not one port for each rank: {found}")
    return found


def all_are_accepted(trial):
    """No connection waits for a rank to accept it."""
    return all(line.split()[2] == "0" for host in trial.hosts
               for line in host.call("ss", "-Hltun").splitlines())


def garbage_at_ports(trial):
    """Before the ranks have connected with all others, and while they talk; some of the
    unauthenticated connections stay until the job has ended."""
    front = trial.job.network.front
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "garbage.py")

    def send_garbage():
        several = [subprocess.Popen([*front.enter(), sys.executable, script, *place],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                   for place in rank_ports(trial)]
        trial.senders += several
        for one in several:
            if one.stdout.readline() != "sent\n":
                raise RuntimeError("garbage could not be sent")
        namespaces.wait_for(lambda: all_are_accepted(trial), "the ranks still accept connections")
    send_garbage()
    begin_talk(trial)
    send_garbage()
    trial.process.send_signal(signal.SIGUSR1)
    trial.begun = time.monotonic()


def messages_without_cookie(trial):
    """From peers without the cookie that speak libfabric's protocol."""
    for _, address, port in rank_ports(trial):
        for what in ("send", "read"):
            trial.job.network.front.call(trial.job.tool("ofi_outsider"), OFI["GEX_OFI_PROVIDER"], address,
                                         port, what)
    end_talk(trial)


def wait_for_talk(trial):
    """Without a rank that has returned. The line is read here, so that the time begins with it."""
    trial.wait_for_line("talked")


def wait_for_silence(trial):
    trial.wait_for_line("awake")


def flood(name, conduit, kib_a_peer, scenario="flood", repeats=False):
    """Each rank has three peers and 2 MiB to receive into. What it keeps for a neighbor is less than for
    one over a network; puts and gets between neighbors are copies, which nothing holds back."""
    return Fault(f"peer does not poll for 10 s, {name}", wait_for_silence, 0, None,
                 (scenario, "10", str(3 * kib_a_peer + 2048)), waits=False, program="fault_probe",
                 hosts=2, conduit=conduit, counted=r"of the flood",
                 neighbors=scenario == "flood", repeats=repeats)


def ends_amid_talk(name, conduit, checks, repeats=False, mpi=None):
    """A fault that ends a job whose ranks talk over a network. The network often notices it first, but the
    process that has detected what has happened reports it."""
    talking = {"scenario": ("serve",), "program": "fault_probe", "hosts": 2, "conduit": conduit,
               "mpi": mpi}
    yield Fault(f"rank killed amid talk, {name}", amid_talk(signal_rank(signal.SIGKILL)), 137,
                KILLED + (CALL if checks else "") + "$", **talking)
    yield Fault(f"rank killed amid talk, checked, {name}", amid_talk(signal_rank(signal.SIGKILL)), 137,
                KILLED + CALL + "$", checked=True, **talking)
    yield Fault(f"rank at fault amid talk, {name}", amid_talk(signal_rank(signal.SIGSEGV)), 139,
                AT_FAULT, **talking)
    yield Fault(f"link down amid talk, {name}", amid_talk(lambda trial: trial.hosts[1].cut()), 1,
                LOST + "no heartbeat from it for 4 s$", **talking)
    yield Fault(f"host gone amid talk, {name}", amid_talk(lambda trial: trial.hosts[1].kill()), 1,
                LOST, **talking)
    yield Fault(f"guardian killed amid talk, {name}", amid_talk(kill_guardian), 1,
                LOST + "the connection to it has ended$", **talking)
    yield Fault(f"launcher killed amid talk, {name}", amid_talk(kill_launcher), -signal.SIGKILL,
                None, **talking)
    yield Fault(f"launcher interrupted amid talk, {name}", amid_talk(interrupt_launcher), 130,
                INTERRUPTED, **talking)
    for how, status, line in (("exit", 3, EXITED), ("success", 1, MISSED), ("_exit", 4, UNSAID_END),
                              ("gasnet_exit", 5, None)):
        yield Fault(f"rank leaves by {how} amid talk, {name}", amid_talk(lambda trial: None), status,
                    line, **{**talking, "scenario": ("serve", how)})
    yield Fault(f"rank killed beside a frozen one, {name}", amid_talk(kill_rank_beside_frozen), 137,
                KILLED, repeats=repeats, **talking)


def udp_faults(checks):
    """With a test of their own: hosts.udp.faults."""
    yield from ends_amid_talk("udp", "udp", checks, repeats=True)
    yield from goes_on_amid_talk("udp", "udp", repeats=True)
    # GEX_UDP_MEMORY is the bound of what a rank keeps for all peers together.
    kib_a_peer = UDP_MEMORY_KIB // 3
    yield flood("udp", "udp", kib_a_peer, repeats=True)
    yield flood("puts and gets over udp", "udp", kib_a_peer, "flood-rma", repeats=True)
    yield Fault("garbage at the ports of udp", garbage_at_ports, 0, None, ("serve",), repeats=True,
                program="fault_probe", hosts=2, conduit="udp", counted="rounds of all ranks")


def mpi_faults(build, checks, no_pmix):
    """With a test of their own: hosts.mpi.faults. gexrun starts the ranks of MPICH's, and its own
    launcher those of each MPI."""
    there = [mpi for mpi in ("mpich", "openmpi")
             if os.path.exists(os.path.join(build, f"lib/libgex-mpi-{mpi}.so"))]
    if "mpich" in there:
        yield from ends_amid_talk("mpi", "mpi", checks, repeats=True, mpi="mpich")
    of_mpi = {"Open MPI": "openmpi", "MPICH": "mpich"}
    for launcher in launchers.OF_OTHERS:
        mpi = of_mpi.get(launcher.name)
        if mpi not in there or not launcher.installed() or (no_pmix and launcher.by_pmix):
            continue
        talking = {"scenario": ("serve",), "program": "fault_probe", "hosts": 2, "conduit": "mpi",
                   "launcher": launcher, "mpi": mpi, "repeats": True}
        name = f"amid talk, mpi by {launcher.name}"
        for what, do in (("rank killed", signal_rank(signal.SIGKILL)),
                         ("rank at fault", signal_rank(signal.SIGSEGV)),
                         ("rank aborts", signal_rank(signal.SIGABRT)),
                         ("launcher killed", kill_launcher),
                         ("launcher interrupted", interrupt_launcher)):
            yield Fault(f"{what} {name}", amid_talk(do), None, ANYTHING, **talking)
        yield Fault(f"rank leaves by gasnet_exit {name}", amid_talk(lambda trial: None), None,
                    ANYTHING, **{**talking, "scenario": ("serve", "gasnet_exit")})


def ucx_faults(build, checks):
    """With a test of their own: hosts.ucx.faults."""
    if not os.path.exists(os.path.join(build, "lib/libgex-ucx.so")):
        return
    yield from ends_amid_talk("ucx", "ucx", checks, repeats=True)
    yield from goes_on_amid_talk("ucx", "ucx", repeats=True)
    facts = subprocess.run([os.path.join(build, "bin/gexinfo")], stdout=subprocess.PIPE, text=True,
                           check=True, env={**os.environ, "GEX_CONDUIT": "ucx"}).stdout
    section = facts[facts.index("UCX "):]
    kib_a_peer = int(re.search(r"at most (\d+) KiB a\s+peer", section)[1])
    yield flood("ucx", "ucx", kib_a_peer, repeats=True)
    yield flood("puts and gets over ucx", "ucx", kib_a_peer, "flood-rma", repeats=True)
    garbage_at_ucx_ports = Fault("garbage at the ports of ucx", garbage_at_ports, 0, None, ("serve",),
                               repeats=True, program="fault_probe", hosts=2, conduit="ucx",
                               counted="rounds of all ranks")
    # UCX warns of each of them.
    garbage_at_ucx_ports.environment["UCX_LOG_LEVEL"] = "fatal"
    yield garbage_at_ucx_ports


def goes_on_amid_talk(name, conduit, repeats=False):
    """A fault that a job survives."""
    talking = {"scenario": ("serve",), "program": "fault_probe", "hosts": 2, "conduit": conduit,
               "counted": "rounds of all ranks", "repeats": repeats}
    for what, seconds, begin, end in (
            ("link down", 2, lambda trial: trial.hosts[1].cut(), lambda trial: trial.hosts[1].mend()),
            # For longer than a host may be silent whose kernel is.
            ("host frozen", 6, lambda trial: trial.hosts[1].freeze(),
             lambda trial: trial.hosts[1].thaw()),
            ("rank frozen", 6, signal_rank(signal.SIGSTOP), signal_rank(signal.SIGCONT))):
        yield Fault(f"{what} for {seconds} s amid talk, {name}",
                    amid_talk(for_a_while(seconds, begin, end)), 0, None, **talking)
    yield Fault(f"rank has returned, others talk to it, {name}", wait_for_talk, 0, None,
                **{**talking, "scenario": ("go-on-without",), "counted": "answers of the rank"})


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
    has_ofi = os.path.exists(os.path.join(build, "lib/libgex-ofi.so"))
    yield from ends_amid_talk("tcp", tcp, checks, repeats=has_ofi)
    yield from goes_on_amid_talk("tcp", tcp, repeats=has_ofi)
    yield from udp_faults(checks)
    yield from ucx_faults(build, checks)
    if not has_ofi:
        return
    yield from ends_amid_talk("ofi", "ofi", checks)
    yield from goes_on_amid_talk("ofi", "ofi")
    # The first to notice waits 4.5 s for a report with a better reason.
    yield Fault("connections broken amid talk, ofi", amid_talk(break_connections), 0, None,
                or_ends=(1, BROKEN), within=8,
                **{**serve, "conduit": "ofi", "counted": "rounds of all ranks|: ofi: "})
    facts = subprocess.run([os.path.join(build, "bin/gexinfo")], stdout=subprocess.PIPE, text=True,
                           check=True, env={**os.environ, "GEX_CONDUIT": "ofi", **OFI}).stdout
    kib_a_peer = int(re.search(r"at most (\d+) KiB a\s+peer", facts)[1])
    yield flood("ofi", "ofi", kib_a_peer)
    # The provider may keep a buffer of its own for each, of which a page or two are touched.
    operations = int(re.search(r"at most (\d+)\s+puts", facts)[1])
    yield flood("puts and gets over ofi", "ofi", kib_a_peer + 8 * operations, "flood-rma")
    yield Fault("garbage at libfabric's ports", garbage_at_ports, 0, None, conduit="ofi", **serve)
    yield Fault("messages without the job's cookie", messages_without_cookie, 0,
                r"^gex: rank 0: warning: ofi: rank 0 drops messages that do not belong to "
                r"this job \(reported once\)$", conduit="ofi", **serve)


def faults_under_others(build, no_pmix):
    """Ranks of other launchers that are there. These detect a death first, report it themselves, and may
    end before our line has come through them."""
    there = [launcher for launcher in launchers.OF_OTHERS
             if launcher.installed() and not (no_pmix and launcher.by_pmix)]
    for launcher in there:
        name = launcher.name
        on_two = {"hosts": 2, "launcher": launcher}
        # What is the guardians' and the root's own doing more than the launcher's.
        ours = {**on_two, "repeats": launcher is not there[0]}
        leaves = {"program": "fault_probe", "conduit": os.path.join(build, "tests/bin/libgex-tcp.so")}
        cut = {"launcher_ends": launcher.notices_lost_host}
        gone = {"launcher_ends": launcher.notices_gone_host}
        when_cut = str if launcher.relays_when_cut else IfAny
        when_gone = str if launcher.relays_when_gone else IfAny
        yield Fault(f"rank killed, {name}", signal_rank(signal.SIGKILL), None, ANYTHING,
                    counted=launcher.reports_death(signal.SIGKILL), **on_two)
        yield Fault(f"rank at fault, {name}", signal_rank(signal.SIGSEGV), None, ANYTHING,
                    counted=launcher.reports_death(signal.SIGSEGV), **ours)
        yield Fault(f"rank exits with status 3, {name}", have_rank_leave, 3, of_rank_0(EXITED),
                    ("leave", "exit"), **leaves, **on_two)
        yield Fault(f"rank returns before a collective call, {name}", have_rank_leave, 1,
                    of_rank_0(MISSED + "0,1,3$"), ("leave", "success"), **leaves, **ours)
        yield Fault(f"link down, {name}", lambda trial: trial.hosts[1].cut(), None,
                    of_rank_0(LOST + "no heartbeat from it for 4 s$"), **cut, **on_two)
        yield Fault(f"link of rank 0's host down, {name}", lambda trial: trial.hosts[0].cut(), None,
                    when_cut(CUT_OFF + "no heartbeat from the root of the job for 4 s$"),
                    **cut, **ours)
        yield Fault(f"host gone, {name}", lambda trial: trial.hosts[1].kill(), None,
                    when_gone(of_rank_0(LOST)), **gone, **ours)
        yield Fault(f"host of rank 0 gone, {name}", lambda trial: trial.hosts[0].kill(), None,
                    when_gone(CUT_OFF), **gone, **ours)
        # All hosts report it, but their ranks end at once, and another's launcher then those of the others.
        yield Fault(f"root killed, {name}", kill_root, None,
                    Each(CUT_OFF.replace("2", "[12]") +
                         "the connection to the root of the job has ended$"), **ours)
        yield Fault(f"guardian killed, {name}", kill_adopting_guardian, None, ANYTHING, **on_two)
        if launcher.joins_by_front:
            yield Fault(f"garbage at the root's port, {name}", garbage_at_root(GARBAGE), 0,
                        of_rank_0(REFUSED), ("exchange", "1000"), waits=False, late_host=True, **ours)
        if launcher.ends_job:
            yield Fault(f"launcher killed, {name}", kill_launcher, None, None, **on_two)


def of_rank_0(line):
    """A line of the root's, which under another launcher is no gexrun."""
    return line.replace("gexrun", "gex")


# The default of GEX_UDP_MEMORY.
UDP_MEMORY_KIB = 64 * 1024
GARBAGE = b"GET / HTTP/1.0\r\n\r\n" * 500
HEADER = b"gexhost2" + bytes(40)
LOST = r"^gexrun: host host2 \(ranks 2,3\) is lost: "
CUT_OFF = r"^gex: host2 ends its ranks: "
BROKEN = (r"^gex: rank \d: ofi: (a put to rank \d of 8 bytes failed: |"
          r"\d+ of rank \d's messages to rank \d were lost with a connection$)")
KILLED = r"^gexrun: rank [23] \(host host2, pid \d+\) was killed by signal 9 \(Killed\)"
CALL = r" (while in|after) (gex_\w+|gasnet_AMPoll)"
AT_FAULT = r"^gexrun: rank [23] \(host host2, pid \d+\) was killed by signal 11 "
UNSAID_END = (r"^gexrun: rank 2 \(host host2, pid \d+\) ended with status 4( (while in|after) \w+)? "
              "without leaving the job$")
EXITED = r"^gexrun: rank 2 \(host host2, pid \d+\) returned 3 from main or called exit\(3\)$"
MISSED = (r"^gexrun: rank 2 \(host host2, pid \d+\) returned from main or called exit\(0\) while a "
          r"collective call waits for it in ranks ")
INTERRUPTED = r"^gexrun: ended by signal 2 \(Interrupt\)$"
REFUSED = r"^gexrun: refused a connection from .* that did not authenticate"

FAULTS = [
    Fault("rank killed (SIGKILL)", signal_rank(signal.SIGKILL), 137,
          KILLED + "$"),
    Fault("rank killed (SIGSEGV)", signal_rank(signal.SIGSEGV), 139,
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
          LOST + "no heartbeat from it for 4 s$"),
    Fault("host gone", lambda trial: trial.hosts[1].kill(), 1, LOST),
    Fault("launcher killed (SIGKILL)", kill_launcher, -signal.SIGKILL, None),
    Fault("launcher interrupted", interrupt_launcher, 130, INTERRUPTED),
    *(Fault(name, garbage_at_root(words), 0, REFUSED, ("exchange", "1000"), waits=False, late_host=True)
      for name, words in (("garbage at the root's port", GARBAGE),
                          ("handshake without the secret", HEADER),
                          ("handshake cut short", HEADER[:20]))),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=namespaces.build_folder)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="", help="faults with this in their names")
    parser.add_argument("--short", action="store_true",
                        help="leaves out what is tried by another launcher or over another network too")
    parser.add_argument("--checks", action="store_true",
                        help="the build's library checks, and so reports a dead rank's last call")
    parser.add_argument("--no-pmix", action="store_true",
                        help="leaves out the launchers that speak PMIx: see tests/jobs/launch")
    options = parser.parse_args()
    namespaces.restore_signals()
    build = options.bin
    complaints = []
    tried = 0
    try:
        # Before the table begins.
        with namespaces.Network(1, build):
            pass
        print(f"{'fault':50} {'tried':>6}" + "".join(f"{check:>8}" for check in CHECKS) + "  longest")
        for fault in [*FAULTS, *faults_under_others(build, options.no_pmix),
                      *network_faults(build, options.checks), *mpi_faults(build, options.checks, options.no_pmix)]:
            if options.only in fault.name and not (options.short and fault.repeats):
                complaints += try_often(fault, build, options.times)
                tried += 1
    except namespaces.Forbidden as error:
        print(f"skipped: no hosts can be made of namespaces here: {error}")
        return namespaces.SKIPPED
    if not tried:
        complaints.append(f"no fault has '{options.only}' in its name")
    print("\n".join(complaints))
    return 1 if complaints else 0


def try_often(fault, build, times):
    """Prints a fault's lines of the table; what did not hold."""
    counters = dict.fromkeys(CHECKS, 0)
    try:
        outcomes = [attempt(fault, build, counters) for _ in range(times)]
    except Impossible as error:
        print(f"{fault.name:50} cannot be tried here: {error}", flush=True)
        return []
    longest = max(outcome.took or 0 for outcome in outcomes)
    print(f"{fault.name:50} {times:6}" + "".join(f"{counters[check]:8}" for check in CHECKS) +
          f"  {longest:5.2f} s")
    if len(fault.ends) > 1:
        statuses = collections.Counter(outcome.status for outcome in outcomes)
        print("  " + ", ".join(f"{count} times status {status}"
                               for status, count in statuses.most_common()))
    if outcomes[-1].counted:
        print(f"  {outcomes[-1].counted}")
    sys.stdout.flush()
    return [outcome.wrong for outcome in outcomes if outcome.wrong]


if __name__ == "__main__":
    sys.exit(main())
