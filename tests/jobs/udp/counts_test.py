#!/usr/bin/env python3
"""The counts that ranks have of their datagrams, as they print it when they end.

    counts_test.py faults|unauthenticated|replays --bin BUILD_FOLDER

  faults           datagrams are lost, repeated and changed on their way
  unauthenticated  a process that is not of the job sends to the ranks' ports
  replays          what ranks have sent each other is sent again: to the same rank, to the others, its
                   sender among them, and changed, cut short or put together of two; exits with 77
                   where this process may not look at that
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys

SKIPPED = 77
COUNTS = ("sent", "again", "timeouts", "received", "repeated", "strange", "malformed", "no_room", "moved",
          "overflowed", "unsendable")
LINE = re.compile(
    r"^gex: rank (\d+): udp: (\d+) datagrams sent, (\d+) of them again \((\d+) after a timeout\); "
    r"(\d+) received: (\d+) repeated or replayed, (\d+) not of this connection or changed on their way, "
    r"(\d+) malformed, (\d+) without room, (\d+) from a new address; the system dropped (\d+) for which "
    r"the receive buffer had no room, and could not send (\d+)$", re.MULTILINE)
# Behind the headers of IPv4 and UDP: src/net/udp/wire.h.
HEADER = 32
FLAGS_AT = 27
SEQUENCED = 1
IPV4 = 0x0800


def check(condition, what):
    if not condition:
        sys.exit(f"counts_test.py: {what}")


def environment(**more):
    return {**os.environ, "GEX_CONDUIT": "udp", "GASNET_SUPERNODE_MAXSIZE": "1", "GEX_VERBOSE": "1",
            "GEX_UDP_LANES": "1", **more}


def counts_of(errors, ranks=2):
    """The counts that each rank has printed."""
    found = {int(rank): dict(zip(COUNTS, map(int, numbers)))
             for rank, *numbers in LINE.findall(errors)}
    check(sorted(found) == list(range(ranks)) and len(LINE.findall(errors)) == ranks,
          f"not one line of each rank: {errors}")
    for rank, counts in found.items():
        print(f"rank {rank}: {counts}")
        check(counts["sent"] > 0 and counts["received"] > 0, "nothing was sent or received")
        check(counts["malformed"] == 0, "a peer has sent what it may not")
    return found


def test_faults(build):
    command = [f"{build}/bin/gexrun", "-n", "2", f"{build}/tests/bin/conformance_seq",
               "--gtest_filter=Payload*:Flow*"]
    for faults in ("loss=0.05,duplication=0.05,corruption=0.02,seed=1", ""):
        done = subprocess.run(command, env=environment(GEX_UDP_FAULTS=faults), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        check(done.returncode == 0, f"the suite fails: {done.stdout}{done.stderr}")
        for counts in counts_of(done.stderr).values():
            check((counts["strange"] > 0) == bool(faults), f"changed: {counts['strange']}")
            # Without faults a rank that waits for a processor may repeat some as well.
            if faults:
                check(counts["again"] > 0 and counts["timeouts"] > 0 and counts["repeated"] > 0,
                      "nothing was lost or repeated")


class Serving:
    """A job whose ranks wait, then talk with each other, and then end."""

    def __init__(self, build, ranks=2):
        self.ranks = ranks
        self.process = subprocess.Popen(
            [f"{build}/bin/gexrun", "-n", str(ranks), f"{build}/tests/bin/fault_probe", "serve"],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        processes = [self.line("ready ") for _ in range(ranks)]
        self.ports = [port for process in processes for port in ports_of(int(process))]
        check(len(self.ports) == ranks, f"not one port for each rank: {self.ports}")

    def line(self, start):
        line = self.process.stdout.readline()
        check(line.startswith(start), f"not {start}: {line}")
        return line[len(start):]

    def talk(self):
        self.process.send_signal(signal.SIGUSR1)
        self.line("talking")

    def end(self):
        self.process.send_signal(signal.SIGUSR1)
        output, errors = self.process.communicate()
        check(self.process.returncode == 0 and "rounds of all ranks" in output,
              f"the job fails: {output}{errors}")
        return counts_of(errors, self.ranks)


def ports_of(process):
    """Where a process receives datagrams, whatever sends them: a connected socket is its peer's alone."""
    folder = f"/proc/{process}/fd"
    files = [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
    with open(f"/proc/{process}/net/udp", encoding="ascii") as table:
        sockets = [line.split() for line in table.readlines()[1:]]
    return [int(words[1].split(":")[1], 16) for words in sockets
            if f"socket:[{words[9]}]" in files and int(words[2].split(":")[1], 16) == 0]


def send_all(datagrams):
    """Pairs of a port and bytes, from a port of their own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for port, datagram in datagrams:
            sender.sendto(datagram, ("127.0.0.1", port))


def test_unauthenticated(build):
    job = Serving(build)
    # Nothing, what is no header, and a header with the wrong tag.
    garbage = [b"", b"x", bytes(31), bytes(32), bytes(range(200)), b"GET / HTTP/1.0\r\n\r\n" * 50] * 10
    send_all((port, words) for words in garbage for port in job.ports)
    job.talk()
    send_all((port, words) for words in garbage for port in job.ports)
    for counts in job.end().values():
        # An empty one holds nothing that could be counted as a datagram of ours.
        expected = 2 * sum(1 for words in garbage if words)
        check(counts["strange"] == expected, f"{counts['strange']} of unknown senders, not {expected}")
        check(counts["moved"] == 0, "an unknown sender was taken for a peer")


def test_replays(build):
    try:
        link = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(IPV4))
    except PermissionError:
        print("skipped: this process may not look at what others send (CAP_NET_RAW)")
        sys.exit(SKIPPED)
    with link:
        link.bind(("lo", IPV4))
        link.settimeout(20)
        job = Serving(build, 3)
        job.process.send_signal(signal.SIGUSR1)
        seen = {port: [] for port in job.ports}
        # As many to each: later ones are of no use here.
        while any(len(datagrams) < 100 for datagrams in seen.values()):
            packet = link.recv(65536)
            udp = packet[4 * (packet[0] & 15):]
            port = int.from_bytes(udp[2:4], "big")
            if port in seen and udp[8 + FLAGS_AT] & SEQUENCED and len(seen[port]) < 100:
                seen[port].append(udp[8:])
        job.line("talking")
        send_all((port, datagram) for port, datagrams in seen.items() for datagram in datagrams)
        forged = [one for port in seen for one in forgeries(port, seen)]
        send_all(forged)
        for counts in job.end().values():
            check(counts["repeated"] >= 100, f"{counts['repeated']} replays of 100 are counted")
            expected = len(forged) // len(seen)
            # One that is longer than its header has it is counted twice: what is behind it, too.
            check(counts["strange"] >= expected or counts["overflowed"] > 0,
                  f"{counts['strange']} of {expected} forgeries are counted")
            check(counts["moved"] == 0, "an unknown sender was taken for a peer")


def forgeries(port, seen):
    """To one port: as many of each kind as datagrams were seen for it."""
    for other, datagrams in seen.items():
        if other != port:
            yield from ((port, datagram) for datagram in datagrams)
    last = seen[port][-1]
    for datagram in seen[port]:
        changed = bytearray(datagram)
        changed[len(datagram) // 2] ^= 1
        yield port, bytes(changed)
        yield port, datagram[:-1]
        # The header of one, and what follows that of another.
        other = last if last[HEADER:] != datagram[HEADER:] else changed
        yield port, datagram[:HEADER] + bytes(other[HEADER:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test", choices=("faults", "unauthenticated", "replays"))
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    globals()[f"test_{options.test}"](options.bin)


if __name__ == "__main__":
    main()
