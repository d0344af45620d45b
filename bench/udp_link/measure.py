#!/usr/bin/env python3
"""Bulk data over udp: between two hosts of namespaces, from many ranks to one, and with losses.

    bench/udp_link/measure.py --bin build/release

Prints for each row what puts into rank 0's memory reach, and what the system's own datagrams do over
the same link in the same run; `full` counts datagrams that found a receive buffer full, `again` is the
share of those that were sent again. Each host has a processor of its own. Needs root; exits with 77 where the machine does not let us make such hosts.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/hosts"))

import namespaces  # noqa: E402

SHAPES = {"veth": "", "10 Gbit/s": "tbf rate 10gbit burst 64kb latency 5ms",
          "1 Gbit/s": "tbf rate 1gbit burst 256kb latency 50ms",
          # As a switch has it: 40 packets.
          "1 Gbit/s, short queue": "tbf rate 1gbit burst 16kb limit 64kb"}
# Bytes of the payload of an Ethernet frame, without the headers of IP and UDP.
PACKET = 1472


class Bench:
    def __init__(self, build, network, seconds, processors):
        self.build = build
        self.network = network
        self.seconds = seconds
        self.processors = processors

    def tool(self, name):
        return os.path.join(self.build, "bin", name)

    def rsh(self):
        """Gives each host a processor of its own."""
        path = os.path.join(self.network.folder.name, "rsh-bound")
        with open(path, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\ncase $1 in\n")
            for host, processor in zip(self.network.hosts, self.processors):
                script.write(f'{host.name}) exec taskset -c {processor} {self.network.rsh} "$@" ;;\n')
            script.write("esac\nexit 255\n")
        os.chmod(path, 0o755)
        return path

    def bare(self):
        sender, receiver = self.network.hosts[1], self.network.hosts[0]
        place = [receiver.address, "7777"]
        with subprocess.Popen(["taskset", "-c", str(self.processors[0]), *receiver.enter(),
                               self.tool("udp_link_bare"), "receive", *place],
                              stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            done = subprocess.run(["taskset", "-c", str(self.processors[1]), *sender.enter(),
                                   self.tool("udp_link_bare"), "send", *place, str(PACKET),
                                   str(self.seconds)], stdout=subprocess.PIPE, text=True, check=False)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        return done.stdout.strip()

    def full(self):
        """Datagrams that found a receive buffer full, so far, on all hosts."""
        count = 0
        for place in (self.network.front, *self.network.hosts):
            names, values = [line.split() for line in place.call("cat", "/proc/net/snmp").splitlines()
                             if line.startswith("Udp:")]
            count += int(values[names.index("RcvbufErrors")])
        return count

    def puts(self, words, bytes_, environment, more=()):
        before = self.full()
        command = self.network.command([self.tool("gexrun"), "--conduit", "udp", *words,
                                        self.tool("udp_link_puts"), str(bytes_), str(self.seconds),
                                        *more])
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "GASNET_SUPERNODE_MAXSIZE": "1", "GEX_VERBOSE": "1",
                                   **environment})
        if done.returncode != 0:
            sys.exit(f"udp_link_puts failed: {done.stdout}{done.stderr}")
        counts = re.findall(r"(\d+) datagrams sent, (\d+) of them again", done.stderr)
        all_sent = sum(int(sent) for sent, _ in counts)
        again = sum(int(again) for _, again in counts)
        return done.stdout.strip(), self.full() - before, 100 * again / max(1, all_sent)


def rate_of(text):
    return float(re.match(r"[\d.]+", text)[0])


def show(row, results, against=None):
    rates = [rate_of(text) for text, *_ in results]
    median = statistics.median(rates)
    ratio = f"{median / against:6.2f}" if against else " " * 6
    print(f"{row:52} {median:8.0f} MB/s {ratio}  {min(rates):.0f} to {max(rates):.0f}, full "
          f"{', '.join(str(full) for _, full, _ in results)}, again "
          f"{', '.join(f'{again:.2f}%' for *_, again in results)}", flush=True)
    return median


def between_hosts(options, processors):
    for name, shape in SHAPES.items():
        if options.only not in name:
            continue
        with namespaces.Network(2, options.bin, shape) as network:
            bench = Bench(options.bin, network, options.seconds, processors)
            hosts = ",".join(f"{host.name}:1" for host in network.hosts)
            words = ["--rsh", bench.rsh(), "--hosts", hosts, "-n", "2"]
            bare, small, large, both, lossy = [], [], [], [], []
            for _ in range(options.runs):
                bare.append((bench.bare(), 0, 0))
                small.append(bench.puts(words, 65536, {}))
                large.append(bench.puts(words, 1 << 20, {}))
                both.append(bench.puts(words, 1 << 20, {}, ["both"]))
                lossy.append(bench.puts(words, 1 << 20, {"GEX_UDP_FAULTS": "loss=0.05"}))
            limit = show(f"{name}: bare datagrams", bare)
            show(f"{name}: puts of 64 KiB", small, limit)
            clean = show(f"{name}: puts of 1 MiB", large, limit)
            show(f"{name}: puts of 1 MiB, both ways", both, 2 * limit)
            show(f"{name}: puts of 1 MiB, 5% lost, of the clean", lossy, clean)


def many_to_one(options, processors):
    """All on one host, and with the receive buffer that the system grants to any process, too."""
    with namespaces.Network(1, options.bin, "") as network:
        bench = Bench(options.bin, network, options.seconds, processors)
        for name, environment in (("", {}), (", buffer of 416 KiB", {"GEX_UDP_RECEIVE_BUFFER": "425984"})):
            for bytes_ in (65536, 1 << 20):
                rows = {2: [], 16: []}
                for _ in range(options.runs):
                    for senders, results in rows.items():
                        results.append(bench.puts(["-n", str(senders + 1)], bytes_, environment))
                two = show(f"loopback: 2 to 1, {bytes_ >> 10} KiB{name}", rows[2])
                show(f"loopback: 16 to 1, {bytes_ >> 10} KiB{name}", rows[16], two)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release", type=namespaces.build_folder,
                        help="the build's folder")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", default="", help="rows with this in the name of their link")
    options = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))[:2]
    try:
        between_hosts(options, processors)
        if options.only in "loopback":
            many_to_one(options, processors)
    except namespaces.Forbidden as error:
        print(f"measure.py: no hosts can be made of namespaces here: {error}", file=sys.stderr)
        return namespaces.SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
