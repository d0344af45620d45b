#!/usr/bin/env python3
"""Jobs that span hosts which share nothing but a network (namespaces.py).

    hosts_test.py --bin BUILD_FOLDER --group GROUP
    hosts_test.py --bin BUILD_FOLDER --group conformance [--quick] RANKS_A_HOST LAYOUT MODE LIBRARY

Over the network of the tests' own, or the one that GEX_CONDUIT names. Exits with 77 where the machine
does not let us make such hosts.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile

import interfaces
import launchers
import namespaces


# How gexrun gives ranks to hosts.
LAYOUTS = ("block", "cyclic")


class Job:
    """Runs programs of the build on the hosts of a network. `ssh`: the folder of the one by which
    gexrun is to reach them, unasked."""

    def __init__(self, network, build, ssh=None):
        self.network = network
        self.build = build
        self.ssh = ssh

    def tool(self, name):
        for folder in ("bin", "tests/bin"):
            path = os.path.join(self.build, folder, name)
            if os.path.exists(path):
                return path
        raise FileNotFoundError(name)

    def is_sanitized(self):
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as cache:
            return re.search(r"^GEX_SANITIZE:\w+=.", cache.read(), re.MULTILINE) is not None

    def hosts(self, ranks):
        """All hosts, with so many ranks each."""
        return ",".join(f"{host.name}:{ranks}" for host in self.network.hosts)

    def command(self, ranks_a_host, *words, options=()):
        ranks = ranks_a_host * len(self.network.hosts)
        reach = [] if self.ssh else ["--rsh", self.network.rsh]
        return self.network.command([self.tool("gexrun"), *reach, "--hosts",
                                     self.hosts(ranks_a_host), "-n", str(ranks), *options, *words])

    def environment(self, more=None):
        path = os.environ["PATH"]
        return {**os.environ, "PATH": f"{self.ssh}:{path}" if self.ssh else path, **(more or {})}

    def start(self, ranks_a_host, *words, environment=None):
        """A job whose ranks each report that they are ready, once all have."""
        process = subprocess.Popen(self.command(ranks_a_host, *words), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment(environment))
        for _ in range(ranks_a_host * len(self.network.hosts)):
            line = process.stdout.readline()
            if not line.startswith("ready"):
                process.kill()
                raise AssertionError(f"not ready: {line}{process.communicate(timeout=30)[1]}")
        return process

    def run_on(self, host, ranks, *words, environment=None, limit=60):
        """A job on one of the hosts."""
        return subprocess.run(
            self.network.command([self.network.rsh, host, self.tool("gexrun"), "-n", str(ranks), *words]),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=limit, check=False, env=self.environment(environment))

    def run(self, ranks_a_host, *words, options=(), environment=None, limit=120, text=""):
        return subprocess.run(self.command(ranks_a_host, *words, options=options), input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=limit, check=False,
                              env=self.environment(environment))


def expect(condition, what, done=None):
    if not condition:
        detail = f"\nstatus {done.returncode}\n{done.stdout}{done.stderr}" if done else ""
        raise AssertionError(what + detail)


def ranks_exchange_whatever_their_hosts(job):
    for ranks in (1, 2, 5):
        done = job.run(ranks, job.tool("launch_probe"), "exchange", "300000")
        total = ranks * len(job.network.hosts)
        expect(done.returncode == 0 and done.stderr == "", "the exchange fails", done)
        expect(done.stdout.count(f"/{total}\n") == total, "some rank is missing", done)


def each_host_has_its_own_name_files_and_processes(job):
    done = job.run(2, "sh", "-c", "echo $(hostname) $(ls -A /dev/shm | wc -l) $(ls -d /proc/[0-9]*"
                   " | wc -l); touch /dev/shm/seen")
    names = {line.split()[0] for line in done.stdout.splitlines()}
    expect(names == {host.name for host in job.network.hosts}, "the names differ", done)
    for host in job.network.hosts:
        host.call("rm", "/dev/shm/seen")


def ranks_of_a_host_share_files(job):
    for layout in LAYOUTS:
        done = job.run(3, job.tool("launch_probe"), "share", options=["--map", layout])
        expect(done.returncode == 0 and done.stdout.count("shared\n") == 3 * len(job.network.hosts),
               f"sharing fails, {layout}", done)


def input_goes_to_rank_0(job):
    done = job.run(1, job.tool("launch_probe"), "read-input", text="hello\n" + "." * 200_000)
    expect("0 read 200006: hello\n" in done.stdout, "rank 0 reads something else", done)
    expect(done.stdout.count(" read 0: ") == len(job.network.hosts) - 1, "others read too", done)


def lines_are_whole_and_tagged(job):
    done = job.run(2, job.tool("launch_probe"), "print-lines", "500", options=["--tag-output"])
    lines = done.stdout.splitlines()
    expect(len(lines) == 1000 * len(job.network.hosts), "lines are missing", done)
    for line in lines:
        tag, rest = line.split(" ", 1)
        expect(rest.startswith(f"<{tag[1:-1]} ") and rest.endswith(">"), f"a torn line: {line}")


def the_status_is_that_of_the_rank_that_fails(job):
    last = str(2 * len(job.network.hosts) - 1)
    done = job.run(2, job.tool("launch_probe"), "exit-with", "7", last)
    line = rf"gexrun: rank {last} \(host [^ ]+, pid \d+\) returned 7 from main or called exit\(7\)\n"
    expect(done.returncode == 7 and re.fullmatch(line, done.stderr), "another status or line", done)


def ends(job, process):
    """How a job has ended that was started, on all hosts."""
    try:
        output, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    namespaces.wait_for(lambda: not any(host.processes() for host in job.network.hosts), "an end")
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def a_login_that_ends_early_is_reported(job):
    process = job.start(1, job.tool("launch_probe"), "stay")
    # The server's process of the session: the client ends with 255, as when a network breaks.
    job.network.hosts[1].call("pkill", "-KILL", "-f", "^sshd(-session)?: root@notty")
    done = ends(job, process)
    expect(done.returncode == 1, "another status", done)
    expect("gexrun: host host2 (rank 1) is lost: " in done.stderr, "another message", done)


def a_killed_agent_between_hosts_ends_all(job):
    """That on host2, through which host3 is reached."""
    process = job.start(1, job.tool("launch_probe"), "stay")
    job.network.hosts[1].call("sh", "-c", "kill -KILL $(pgrep -o -f -- --host-part)")
    done = ends(job, process)
    expect(done.returncode == 1 and "gexrun: host host2 (rank 1) is lost: " in done.stderr,
           "another end", done)


def a_killed_launcher_leaves_nothing(job):
    process = job.start(2, job.tool("launch_probe"), "stay")
    process.kill()
    done = ends(job, process)
    expect(done.returncode == -signal.SIGKILL and done.stderr == "", "it prints a line", done)


def an_interrupt_ends_all(job):
    process = job.start(2, job.tool("launch_probe"), "stay")
    process.send_signal(signal.SIGINT)
    done = ends(job, process)
    expect(done.returncode == 130 and
           done.stderr == "gexrun: ended by signal 2 (Interrupt)\n", "another end", done)


def neighborhoods_are_of_ranks_on_one_host(job):
    """By the library's own word, as a client asks for it."""
    hosts = len(job.network.hosts)
    for layout in LAYOUTS:
        for ranks, limit, neighborhoods in ((1, 0, hosts), (2, 0, hosts), (3, 0, hosts),
                                            (2, 1, 2 * hosts), (3, 2, 2 * hosts)):
            done = job.run(ranks, job.tool("hosts_probe"), options=["--map", layout], environment={
                "GEX_CONDUIT": conduit(job), "GASNET_SUPERNODE_MAXSIZE": str(limit)})
            expect(done.returncode == 0, "the probe fails", done)
            expect(sorted(done.stdout.splitlines()) ==
                   places(layout, hosts, ranks, limit, neighborhoods),
                   f"{layout}, {ranks} ranks a host, at most {limit} together", done)


def places(layout, hosts, ranks, limit, neighborhoods):
    """All that hosts_probe prints, sorted."""
    expected = []
    for host in range(hosts):
        members = [rank for rank in range(ranks * hosts)
                   if host == (rank // ranks if layout == "block" else rank % hosts)]
        for at in range(0, ranks, limit or ranks):
            together = members[at:at + (limit or ranks)]
            expected += [f"rank {rank}: hosts {hosts}, neighborhoods {neighborhoods}, "
                         f"host {listed(members)}, neighborhood {listed(together)}"
                         for rank in together]
    return sorted(expected)


def listed(ranks):
    return ",".join(map(str, ranks))


def run_by(launcher, job, words, layout, variables):
    """Runs a job of two ranks a host that another's launcher starts, until all of it has ended: our
    guardians, which have no parent there, end after it."""
    hosts = job.network.hosts
    process = subprocess.Popen(launcher.command(job, 2, words, layout, variables),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True,
                               cwd=job.build,
                               env={**job.environment(variables), **launcher.environment(job)})
    try:
        output, errors = process.communicate(timeout=120)
        namespaces.wait_for(lambda: not any(launcher.processes(host) for host in hosts), "an end")
    except (subprocess.TimeoutExpired, TimeoutError):
        launchers.end(process, hosts)
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def started_by(launcher):
    """Another's launcher: ranks are where it puts them, and reach one another over the network."""
    def are_where_they_were_put(job):
        with launcher.ready(job):
            for layout in LAYOUTS:
                done = run_by(launcher, job, [job.tool("hosts_probe")], layout, network_of(job))
                expect(done.returncode == 0, f"the probe fails, {layout}", done)
                hosts = len(job.network.hosts)
                expect(sorted(done.stdout.splitlines()) == places(layout, hosts, 2, 0, hosts),
                       layout, done)
    name = launcher.name.replace(" ", "_")
    are_where_they_were_put.__name__ = f"ranks_of_{name}_are_where_it_has_put_them"
    are_where_they_were_put.launcher = launcher
    return are_where_they_were_put


def launcher_of(test):
    return getattr(test, "launcher", launchers.Gexrun())


@contextlib.contextmanager
def launchers_of_gasnet(job):
    """A folder with the launchers under the names that software written for GASNet calls."""
    with tempfile.TemporaryDirectory(dir=os.path.join(job.build, "tests")) as folder:
        for name in ("gasnetrun_udp", "amudprun"):
            os.symlink(job.tool("gasnetrun"), os.path.join(folder, name))
        yield folder


def run_on_servers(job, folder, words, **more):
    """Runs a command on the front end, where variables name the hosts."""
    servers = " ".join(host.name for host in job.network.hosts)
    variables = {"SSH_SERVERS": servers, "SSH_CMD": job.network.rsh, "GEX_VERBOSE": "1",
                 "PATH": f"{folder}:{os.environ['PATH']}", **more}
    return subprocess.run(job.network.command(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False,
                          env={**os.environ, **variables})


def gasnetrun_udp_starts_ranks_on_the_servers(job):
    with launchers_of_gasnet(job) as folder:
        done = run_on_servers(job, folder, [f"{folder}/gasnetrun_udp", "-n", "4", "-N", "2",
                                            job.tool("hosts_probe")])
    expect(done.returncode == 0 and ", network udp (" in done.stderr, "the job fails", done)
    expect(sorted(done.stdout.splitlines()) == places("block", 2, 2, 0, 2), "other places", done)


def amudprun_starts_a_rank_on_each_server(job):
    with launchers_of_gasnet(job) as folder:
        done = run_on_servers(job, folder, [f"{folder}/amudprun", "-np", "2", job.tool("hosts_probe")],
                              GASNET_SPAWNFN="S", GEX_CONDUIT="udp")
    expect(done.returncode == 0 and ", network udp (" in done.stderr, "the job fails", done)
    expect(sorted(done.stdout.splitlines()) == places("block", 2, 1, 0, 2), "other places", done)


def a_program_of_the_label_udp_starts_ranks_on_the_servers(job):
    with launchers_of_gasnet(job) as folder:
        done = run_on_servers(job, folder, [job.tool("self_start_probe"), "2", "word"])
    expect(done.returncode == 0 and ", network udp (" in done.stderr, "the job fails", done)
    expect(sorted(done.stdout.splitlines()) == ["rank 0 of 2: word", "rank 1 of 2: word"],
           "other arguments", done)


def refused_in_one_line(job, reason, **variables):
    """A job over udp that cannot begin prints the reason once."""
    done = job.run(2, job.tool("hosts_probe"), environment={"GEX_CONDUIT": "udp", **variables})
    reasons = [line for line in done.stderr.splitlines() if reason in line]
    expect(done.returncode == 1 and done.stdout == "" and len(reasons) == 1, f"not one line: {reason}",
           done)
    expect(len(done.stderr.splitlines()) == 2 and "conduit udp cannot be used here" in done.stderr,
           "more lines than the reason and the end", done)


def an_interface_that_is_not_there_is_named(job):
    refused_in_one_line(job, "this host has no interface, address or subnet eth7; there are ",
                        GEX_UDP_INTERFACE="eth7")
    # That of one host, which the other does not have.
    refused_in_one_line(job, f"no interface, address or subnet {job.network.hosts[0].address}; there are ",
                        GEX_UDP_INTERFACE=job.network.hosts[0].address)


def ports_that_are_taken_are_named(job):
    with subprocess.Popen([*job.network.hosts[1].enter(), sys.executable, "-c",
                           "import socket,sys; one=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); "
                           "one.bind(('', 40000)); print('ready', flush=True); sys.stdin.read()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        expect(holder.stdout.readline() == "ready\n", "the port is not taken")
        refused_in_one_line(job, f"cannot bind to {job.network.hosts[1].address}, ports 40000 to 40001: "
                            "Address already in use; GEX_UDP_PORTS names them",
                            GEX_UDP_PORTS="40000-40001", GEX_UDP_LANES="1")
        holder.communicate()
    done = job.run(2, job.tool("hosts_probe"), environment={
        "GEX_CONDUIT": "udp", "GEX_UDP_PORTS": "40000-40001", "GEX_UDP_LANES": "1"})
    expect(done.returncode == 0, "a port for each rank is not enough", done)


class PathProbe:
    """A job over udp that puts much, between hosts whose path carries less than their interfaces take and
    does not report that: their packets of 1500 bytes vanish in the switch."""

    def __init__(self, job, mtu):
        self.job = job
        self.set_path(mtu)
        # What the system sends as one for many packets, a link of this kind does not drop.
        self.process = job.start(1, job.tool("fault_probe"), "serve", "bulk", environment={
            "GEX_CONDUIT": "udp", "GEX_VERBOSE": "1", "GEX_UDP_GSO": "0", "GEX_UDP_LANES": "1"})
        self.signal()
        line = self.process.stdout.readline()
        expect(line == "talking\n", f"not talking: {line}")

    def set_path(self, mtu):
        for host in self.job.network.hosts:
            self.job.network.front.call("ip", "link", "set", f"port{host.number}", "mtu", str(mtu))

    def signal(self):
        self.process.send_signal(signal.SIGUSR1)

    def wait_for_packets_of(self, size):
        self.job.network.front.call(sys.executable, "-c", (
            "import socket; link = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)); "
            "link.bind(('port1', 3)); link.settimeout(40)\n"
            f"while len(link.recv(65536)) < {size}: pass"))

    def end(self):
        """The ranks' report of the sizes of packets."""
        self.signal()
        try:
            done = ends(self.job, self.process)
        finally:
            self.set_path(1500)
        expect(done.returncode == 0, "the job fails", done)
        return re.findall(r"^gex: rank \d: udp: (packets of .*|the way .*)$", done.stderr, re.MULTILINE)


def udp_finds_how_large_packets_may_be(job):
    probe = PathProbe(job, 1300)
    probe.wait_for_packets_of(1292)
    lines = probe.end()
    # The switch lets a few bytes more pass.
    # One of the ranks may still be at it.
    sizes = [int(size) for line in lines for size in re.findall(
        r"^packets of up to (\d+) bytes, where the interface takes 1500, to rank [01]$", line)]
    expect(len(sizes) == 2 and 1292 <= max(sizes) <= 1304 and min(sizes) >= 1280,
           f"other sizes: {lines}")


def udp_goes_on_where_the_path_narrows_and_widens(job):
    probe = PathProbe(job, 1500)
    probe.wait_for_packets_of(1500)
    probe.set_path(1300)
    lines = probe.end()
    expect(len(lines) == 2 and all("became narrower 1 time" in line for line in lines) and
           all(line.startswith("packets of up to 1") for line in lines), f"not narrower: {lines}")
    probe = PathProbe(job, 1300)
    probe.set_path(1500)
    probe.wait_for_packets_of(1500)
    expect(all("1500" in line for line in probe.end()), "not as wide again")


def a_path_for_small_packets_only_is_named(job):
    host = job.network.hosts[1]
    host.call("ip", "link", "set", "eth0", "mtu", "500")
    refused_in_one_line(job, f"packets from {host.address} to {job.network.hosts[0].address} may have 500 "
                        "bytes, and udp needs 576: raise the MTU of the interface")
    host.call("ip", "link", "set", "eth0", "mtu", "1500")
    # Larger ones than the interface has would not arrive.
    done = job.run(2, job.tool("hosts_probe"), environment={"GEX_CONDUIT": "udp", "GEX_UDP_MTU": "9000"})
    expect(done.returncode == 0, "the probe fails", done)


def a_firewall_is_suspected_where_nothing_comes_back(job):
    host = job.network.hosts[1]
    # Addresses of this host itself are looked up behind the rule.
    host.call("ip", "rule", "add", "prio", "200", "lookup", "local")
    host.call("ip", "rule", "del", "prio", "0")
    host.call("ip", "rule", "add", "prio", "10", "iif", "eth0", "ipproto", "udp", "blackhole")
    refused_in_one_line(job, f"hosts host1 and host2 do not reach each other: host2 at {host.address} (eth0): "
                        f"no answer; host1 at {job.network.hosts[0].address} (eth0): no answer; GEX_UDP_INTERFACE "
                        "or GASNET_WORKERIP chooses an interface, an address or a subnet that joins them; where "
                        "one does, a firewall has to let it pass")
    host.call("ip", "rule", "del", "prio", "10")
    done = job.run(1, job.tool("hosts_probe"), environment={"GEX_CONDUIT": "udp"})
    expect(done.returncode == 0, "the probe fails", done)


def without_a_network_the_job_is_refused(job):
    done = job.run(1, job.tool("hosts_probe"), environment={"GEX_CONDUIT": "smp"})
    expect(done.returncode == 1 and len(done.stderr.splitlines()) == 1 and
           "conduit smp has no network, but " in done.stderr, "another message", done)


def gexinfo_prints_which_way_messages_go(job):
    done = job.run(2, job.tool("gexinfo"), "--matrix", environment={"GEX_CONDUIT": conduit(job)})
    expect(done.returncode == 0 and done.stderr == "", "gexinfo fails", done)
    for line in (r"A  ranks of one neighborhood \(0,1 \| 2,3\)",
                 r"B  ranks of different hosts \(0,1 \| 2,3\)",
                 r"  not shared memory +the ranks are on different hosts", r" +3  BBA\."):
        expect(re.search(f"(?m)^{line}$", done.stdout), f"no line {line}", done)
    # Without a name the best network is chosen, if there is one.
    done = job.run(2, job.tool("hosts_probe"))
    expect(done.returncode == 0 or "and no network reaches them (" in done.stderr, "no choice", done)


def what_is_required_is_not_less(job):
    done = job.run(1, job.tool("hosts_probe"),
                   environment={"GEX_CONDUIT": conduit(job), "GEX_REQUIRE": "shm"})
    expect(done.returncode == 1 and len(done.stderr.splitlines()) == 1 and
           "GEX_REQUIRE=shm: ranks 0 and 1 are connected by " in done.stderr and
           "(no shared memory: the ranks are on different hosts; " in done.stderr,
           "another message", done)


def conduit(job):
    return os.environ.get("GEX_CONDUIT") or os.path.join(job.build, "tests/bin/libgex-tcp.so")


def network_of(job):
    """The variables that name it. Another's launcher passes on only what its options name."""
    named = {name: os.environ[name] for name in ("GEX_OFI_PROVIDER",) if name in os.environ}
    return {"GEX_CONDUIT": conduit(job), **named}


# A host has processors of its own: the n-th the n-th of what this machine has. If all hosts thought
# that they had all of them, ranks would spin, as with a processor for each, while others have none.
CORES = sorted(os.sched_getaffinity(0))
ON_OWN_CORES = ["sh", "-c", "host=$(hostname) && "
                f"core=$(echo {' '.join(map(str, CORES))} | "
                f"cut -d' ' -f$(((${{host#host}} - 1) % {len(CORES)} + 1))) && "
                "exec taskset -c $core \"$@\"", "sh"]

# What the variables ask of the library.
LIBRARIES = {"release": {}, "check": {"GEX_CHECK": "1"}}


# Tests of the suite in which the hosts make a difference: where ranks are, and each way in which data and
# control go from rank to rank. The rest is the network's alone, which ranks of one host use alike.
BETWEEN_HOSTS = ["Harness*", "System*", "Token*", "Split*", "*Segment*", "Publish*", "Rma.*", "Value*",
                 "Payload*", "Replies*", "Flow*", "Atomic/0.*", "AtomicDomain*", "Vis/VisPut*", "Vis/VisGet*",
                 "*Barrier*", "Broadcast*", "Reductions*", "Gasnet1Job*", "-*Thousand*"]


def ft_verifies(job):
    """The FFT of the NAS benchmarks, class A: every checksum is compared with the published one."""
    done = job.run(1, *ON_OWN_CORES, os.path.join(job.build, "bin/ft"), "--class", "A",
                   environment=network_of(job), limit=250)
    expect(done.returncode == 0, "FT fails", done)
    print(done.stdout)


def conformance(quick, ranks, layout, mode, library):
    def conforms(job):
        chosen = [f"--gtest_filter={':'.join(BETWEEN_HOSTS)}"] if quick else []
        # The suite's own signals between ranks are files that all hosts see.
        with tempfile.TemporaryDirectory(dir=os.path.join(job.build, "tests")) as shared:
            done = job.run(int(ranks), *ON_OWN_CORES, job.tool(f"conformance_{mode}"), *chosen,
                           options=["--map", layout], limit=500,
                           environment={**network_of(job), **LIBRARIES[library], "TMPDIR": shared})
        expect(done.returncode == 0, "the suite fails", done)
        print(time_taken(done.stdout))
    conforms.__name__ = f"the_conformance_suite_runs_with_{ranks}_a_host_{layout}_{mode}_{library}"
    return conforms


def time_taken(output):
    """The time of all tests, and of those that took longest, by GoogleTest's own lines."""
    tests = re.findall(r"^\[       OK \] (\S+) \((\d+) ms\)$", output, re.MULTILINE)
    tests.sort(key=lambda test: -int(test[1]))
    tests.insert(0, (f"{len(tests)} tests", sum(int(milliseconds) for _, milliseconds in tests)))
    return "".join(f"{milliseconds:>7} ms {name}\n" for name, milliseconds in tests[:20])


LAUNCH = [ranks_exchange_whatever_their_hosts, each_host_has_its_own_name_files_and_processes,
          ranks_of_a_host_share_files, input_goes_to_rank_0, lines_are_whole_and_tagged,
          the_status_is_that_of_the_rank_that_fails]

GROUPS = {
    "launch": (3, LAUNCH),
    "ssh": (3, [*LAUNCH, a_login_that_ends_early_is_reported, a_killed_launcher_leaves_nothing,
                an_interrupt_ends_all]),
    # Each host starts the next.
    "ssh-tree": (3, [*LAUNCH, a_login_that_ends_early_is_reported,
                     a_killed_agent_between_hosts_ends_all, a_killed_launcher_leaves_nothing,
                     an_interrupt_ends_all]),
    "neighborhoods": (2, [neighborhoods_are_of_ranks_on_one_host,
                          without_a_network_the_job_is_refused,
                          gexinfo_prints_which_way_messages_go, what_is_required_is_not_less]),
    "launchers": (2, [started_by(one) for one in (*launchers.OF_OTHERS, *launchers.IN_ALLOCATIONS)
                      if one.installed()]),
    "allocations": (2, [started_by(one) for one in launchers.IN_ALLOCATIONS if one.installed()]),
    "ft": (2, [ft_verifies]),
    "gasnetrun": (2, [gasnetrun_udp_starts_ranks_on_the_servers,
                      amudprun_starts_a_rank_on_each_server,
                      a_program_of_the_label_udp_starts_ranks_on_the_servers]),
    "udp-mistakes": (2, [an_interface_that_is_not_there_is_named, ports_that_are_taken_are_named,
                         a_path_for_small_packets_only_is_named,
                         a_firewall_is_suspected_where_nothing_comes_back]),
    "interfaces": (2, [interfaces.every_network_finds_the_interface_that_leads_to_the_others,
                       interfaces.what_does_not_join_the_hosts_is_named_with_the_variable,
                       interfaces.ucx_on_one_host_opens_no_port]),
    "ports": (2, [interfaces.ports_that_are_all_taken_are_named,
                  interfaces.the_ports_that_a_firewall_passes_are_enough]),
    "udp-path": (2, [udp_finds_how_large_packets_may_be,
                     udp_goes_on_where_the_path_narrows_and_widens]),
    "neighborhoods-4": (4, [neighborhoods_are_of_ranks_on_one_host]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=namespaces.build_folder)
    parser.add_argument("--group", choices=[*GROUPS, "conformance"], required=True)
    parser.add_argument("configuration", nargs="*", help="of conformance: ranks a host, layout, mode and "
                        "library, as in cover.txt")
    parser.add_argument("--quick", action="store_true",
                        help="of conformance: only tests in which hosts make a difference")
    parser.add_argument("--hosts", type=int, default=2, help="of conformance")
    parser.add_argument("--no-pmix", action="store_true",
                        help="leaves out the launchers that speak PMIx: see tests/jobs/launch")
    options = parser.parse_args()
    namespaces.restore_signals()
    if options.group == "conformance":
        count, tests = options.hosts, [conformance(options.quick, *options.configuration)]
    else:
        count, tests = GROUPS[options.group]
        if options.group == "ssh-tree":
            os.environ["GEX_LAUNCH_FANOUT"] = "1"
    if options.no_pmix:
        tests = [test for test in tests if not launcher_of(test).by_pmix]
    failed = False
    if not tests:
        print("skipped: what it tries is not installed here, or left out")
        return namespaces.SKIPPED
    try:
        with namespaces.Network(count, options.bin) as network:
            by_ssh = options.group in ("ssh", "ssh-tree")
            ssh = network.serve_ssh() if by_ssh else None
            if by_ssh and ssh is None:
                print("skipped: there is no sshd here and none to be had from Debian, or it does not let "
                      "root log in (openssh-server)")
                return namespaces.SKIPPED
            job = Job(network, options.bin, ssh)
            for test in tests:
                try:
                    test(job)
                    for place in (network.front, *network.hosts):
                        left = launcher_of(test).leftovers(place)
                        expect(not left, f"left behind on {place.name}: {left}")
                    print(f"passed: {test.__name__}", flush=True)
                except (AssertionError, RuntimeError, subprocess.TimeoutExpired, TimeoutError) as error:
                    print(f"FAILED: {test.__name__}: {error}", flush=True)
                    failed = True
    except namespaces.Forbidden as error:
        print(f"skipped: no hosts can be made of namespaces here: {error}")
        return namespaces.SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
