#!/usr/bin/env python3
"""The messages that a job of many ranks has sent when it has started, attached, met at barriers, made teams and
called each collective.

    formulas.py --bin BUILD_FOLDER --ranks N

Its ranks count what they send, and with how many others they have had to do. All are functions of the
number of ranks, of the tree of exchanges (src/team/exchange_tree.h), of the rounds of barriers, and of
the plans of collectives (src/coll/plan.h, src/coll/doubling.h); the counts must not be larger.
"""

import argparse
import os
import re
import subprocess
import sys

FAN = 8
NEIGHBORHOOD = 8
BARRIERS = 3
TEAMS = re.compile(r"^gex: rank (\d+): teams: (\d+) exchanges, for which it sent (\d+) messages of (\d+) bytes "
                   r"in all; barriers: (\d+) messages$", re.MULTILINE)
START = re.compile(r"^gex: rank (\d+): start: (\d+) exchanges, for which it sent the launcher (\d+) messages of "
                   r"(\d+) bytes in all, and received (\d+) of (\d+)$", re.MULTILINE)
COLLECTIVES = re.compile(r"^gex: rank (\d+): collectives: sent (\d+) messages with (\d+) bytes$",
                         re.MULTILINE)
PEERS = re.compile(r"^gex: rank (\d+): udp: datagrams were exchanged with (\d+) of (\d+) other ranks$",
                   re.MULTILINE)
# What one rank gives to an exchange, with its size, and what one message of an exchange carries.
MAX_BLOCK = 256
MESSAGE = 8192
WORD = 8
PAGE_TABLES = re.compile(r"^rank (\d+): page tables:\s+(\d+) kB$", re.MULTILINE)
# Neighbors up to which page tables are not compared, and what one more takes in them, in KiB.
FEW_NEIGHBORS = 32
MAX_OF_NEIGHBOR = 1.5
HEAP = re.compile(r"^rank (\d+): heap: (\d+) bytes$", re.MULTILINE)
# Ranks with which heaps are compared, and what a rank may keep of one more to which it sends nothing.
FEW_RANKS = 32
MAX_OF_PEER = 8
# Bytes that gexrun sends to hosts, in messages with a header and a seal: some of each host, and settings of
# the job; none of each rank, since the ports of their sockets follow one another.
SENT = re.compile(r"^gexrun: (\d+) connections; .* sent (\d+) messages \((\d+) of exchanges\), (\d+) bytes$",
                  re.MULTILINE)
FRAME = 64
OF_HOST = 20
OF_JOB = 350
# What one rank gives to the exchanges that start a job, in the mean.
MEAN_GIVEN = 128


def check(condition, what):
    if not condition:
        sys.exit(f"formulas.py: {what}")


def unit_of(rank):
    unit = 1
    while rank // unit % FAN == 0:
        unit *= FAN
    return unit


def end_of(rank, ranks):
    return ranks if rank == 0 else min(ranks, rank + unit_of(rank))


def relatives_of(rank, ranks):
    """Parent and children in the tree of exchanges."""
    children = []
    unit = 1
    while rank + unit < end_of(rank, ranks):
        children += [child for child in range(rank + unit, rank + FAN * unit, unit)
                     if child < end_of(rank, ranks)]
        unit *= FAN
    parent = [] if rank == 0 else [rank - rank // unit_of(rank) % FAN * unit_of(rank)]
    return parent, children


def rounds_of(members):
    return max(0, (members - 1).bit_length())


def barrier_messages_of(rank, ranks):
    """Messages of one barrier, in which the leaders meet, the lowest rank of each neighborhood."""
    return rounds_of(ranks // NEIGHBORHOOD) if rank % NEIGHBORHOOD == 0 else 0


def tree_of_leaders(rank, ranks):
    """Parent and children of a leader in the binomial tree over neighborhoods, in which 0 is the root."""
    if rank % NEIGHBORHOOD:
        return [], []
    vertex, count = rank // NEIGHBORHOOD, ranks // NEIGHBORHOOD
    steps = [2 ** k for k in range(vertex_children(vertex, count))]
    parent = [(vertex & vertex - 1) * NEIGHBORHOOD] if vertex else []
    return parent, [(vertex + step) * NEIGHBORHOOD for step in steps]


def vertex_children(vertex, count):
    """How many children a vertex of a binomial tree has, in which 0 is the root."""
    reach = vertex & -vertex if vertex else count
    return sum(1 for k in range(rounds_of(count)) if 2 ** k < reach and vertex + 2 ** k < count)


def collective_of(rank, ranks, by_leaders):
    """Messages and bytes of a broadcast, two reductions, a gather to all and an exchange, of a word of each
    rank. The number of neighborhoods is a power of two. Without leaders neighbors send each other messages
    too, in binomial trees."""
    parent, children = tree_of_leaders(rank, ranks)
    of_trees = len(children) + len(parent) + barrier_messages_of(rank, ranks)
    if not by_leaders:
        place = rank % NEIGHBORHOOD
        # Down twice, in the broadcast and from the reduction to all; up in both reductions.
        of_trees += 2 * vertex_children(place, NEIGHBORHOOD) + (2 if place else 0)
    rounds = rounds_of(ranks)
    gathered = ranks - 1
    exchanged = sum(place >> k & 1 for k in range(rounds) for place in range(ranks))
    return of_trees + 2 * rounds, (of_trees + gathered + exchanged) * WORD


def partners_of(rank, ranks):
    """All with whom a rank exchanges datagrams: relatives in trees, partners of barriers and of rounds."""
    half = [[2 * one + rank % 2 for one in some] for some in relatives_of(rank // 2, ranks // 2)]
    partners = {one for some in (*relatives_of(rank, ranks), *half, *tree_of_leaders(rank, ranks))
                for one in some}
    for step in range(barrier_messages_of(rank, ranks)):
        distance = NEIGHBORHOOD * 2 ** step
        partners |= {(rank + distance) % ranks, (rank - distance) % ranks, rank ^ distance}
    for step in range(rounds_of(ranks)):
        partners |= {(rank + 2 ** step) % ranks, (rank - 2 ** step) % ranks}
    return {one for one in partners if one // NEIGHBORHOOD != rank // NEIGHBORHOOD}


def exchange_bounds(rank, ranks):
    """Messages of an exchange of so many ranks, at least and at most, and bytes at most."""
    parent, children = relatives_of(rank, ranks)
    gathered = end_of(rank, ranks) - rank
    most = (len(parent) * -(-gathered * MAX_BLOCK // MESSAGE)
            + len(children) * -(-ranks * MAX_BLOCK // MESSAGE))
    return (len(parent) + len(children), most,
            MAX_BLOCK * (len(parent) * gathered + len(children) * ranks))


def run(folder, ranks, before=(), conduit="udp", neighborhood=NEIGHBORHOOD):
    """The output of ranks, one probe in each, below another command if there is one."""
    environment = {name: value for name, value in os.environ.items() if name != "GEX_COLL_LEADERS"}
    done = subprocess.run(
        [f"{folder}/bin/gexrun", "-n", str(ranks), *before, f"{folder}/tests/bin/scale_probe", str(BARRIERS)],
        # What a thread keeps of freed memory would be counted as in use.
        env={**environment, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "GEX_CONDUIT": conduit, "GASNET_SUPERNODE_MAXSIZE": str(neighborhood),
             "GEX_VERBOSE": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == 0, f"the job fails: {done.stdout}{done.stderr}")
    return done.stderr


def counts_in(printed, line, ranks):
    """By rank the numbers in a line that each rank prints once."""
    counts = {int(found[0]): [int(number) for number in found[1:]] for found in line.findall(printed)}
    check(sorted(counts) == list(range(ranks)), f"not one line of each rank: {line.pattern}: {printed}")
    return counts


def check_collectives(printed, ranks, by_leaders):
    for rank, (messages, sent) in counts_in(printed, COLLECTIVES, ranks).items():
        expected = collective_of(rank, ranks, by_leaders)
        check((messages, sent) == expected,
              f"rank {rank} of {ranks}: {messages} messages of {sent} bytes in collectives, not {expected}")


def check_page_tables(folder, ranks):
    """Neighbors look at one another's flags and bells, which lie side by side: a page of tables of its own for
    each neighbor would be 4 KiB."""
    few, many = (max(size for size, in counts_in(run(folder, count, conduit="smp", neighborhood=0),
                                                 PAGE_TABLES, count).values())
                 for count in (FEW_NEIGHBORS, ranks))
    most = few + MAX_OF_NEIGHBOR * (ranks - FEW_NEIGHBORS)
    check(many <= most, f"page tables of {ranks} neighbors take {many} KiB, more than {most}: of {FEW_NEIGHBORS} "
          f"neighbors {few}")


def check_heap(folder, printed, ranks):
    """The memory that a rank keeps of those to which it sends nothing: the least heap of a rank is of one that has had to do
    with as many others in both jobs."""
    few, many = (min(size for size, in counts_in(text, HEAP, count).values())
                 for text, count in ((run(folder, FEW_RANKS), FEW_RANKS), (printed, ranks)))
    most = few + MAX_OF_PEER * (ranks - FEW_RANKS)
    check(many <= most, f"the heap of a rank of {ranks} has {many} bytes, more than {most}: with {FEW_RANKS} ranks "
          f"{few}")


def check_start(printed, ranks):
    """A message each way for each exchange, and a few to join and to share memory."""
    counts = counts_in(printed, START, ranks)
    exchanges = counts[0][0]
    check(0 < exchanges < 15, f"{exchanges} exchanges to start")
    for rank, (own_exchanges, sent, sent_bytes, received, received_bytes) in counts.items():
        check(own_exchanges == exchanges, f"rank {rank} has taken part in {own_exchanges} exchanges")
        for direction, messages in ("sent", sent), ("received", received):
            check(exchanges <= messages <= exchanges + 10,
                  f"rank {rank} has {direction} {messages} messages for {exchanges} exchanges")
        most = exchanges * MEAN_GIVEN
        check(sent_bytes <= most, f"rank {rank} has sent {sent_bytes} bytes, more than {most}")
        # Beside what all give there is the list of their hosts; large tables come once a host.
        most = ranks * (4 + sent_bytes)
        check(received_bytes <= most, f"rank {rank} has received {received_bytes} bytes, more than {most}")


def check_root(folder, ranks):
    """The bytes that gexrun sends to each of some hosts, all of which are this one."""
    hosts = ranks // NEIGHBORHOOD
    shell = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch", "rsh_here.sh")
    done = subprocess.run(
        [f"{folder}/bin/gexrun", "-v", "--rsh", shell, "--hosts",
         ",".join(f"h{host}:{NEIGHBORHOOD}" for host in range(hosts)), "-n", str(ranks),
         f"{folder}/tests/bin/scale_probe", "1"],
        env={**os.environ, "GEX_CONDUIT": "udp", "GEX_UDP_INTERFACE": "lo", "GEX_LAUNCH_FANOUT": "0"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    found = SENT.search(done.stderr)
    check(done.returncode == 0 and found, f"the job on hosts fails: {done.stdout}{done.stderr}")
    links, messages, exchanges, sent = (int(number) for number in found.groups())
    check(links == hosts, f"gexrun has {links} connections to {hosts} hosts")
    check(exchanges <= 25 * links, f"gexrun has sent {exchanges} messages of exchanges to {links} hosts")
    most = links * (OF_HOST * hosts + OF_JOB)
    check(sent - FRAME * messages <= most,
          f"gexrun has sent {sent} bytes in {messages} messages to {links} hosts, more than {most} but for headers")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    arguments = parser.parse_args()
    ranks = arguments.ranks
    printed = run(arguments.bin, ranks)
    check_start(printed, ranks)
    check_collectives(printed, ranks, by_leaders=True)
    counts = counts_in(printed, TEAMS, ranks)
    peers = counts_in(printed, PEERS, ranks)
    exchanges = counts[0][0]
    check(0 < exchanges < 10, f"{exchanges} exchanges to start, attach and split")
    for rank, (own_exchanges, messages, sent, barrier_messages) in counts.items():
        check(own_exchanges == exchanges, f"rank {rank} has taken part in {own_exchanges} exchanges")
        # The last is that of the new team.
        whole, half = exchange_bounds(rank, ranks), exchange_bounds(rank // 2, ranks // 2)
        least, most, max_bytes = [(exchanges - 1) * one + other for one, other in zip(whole, half)]
        check(least <= messages <= most, f"rank {rank}: {messages} messages of exchanges, not {least} to {most}")
        check(sent <= max_bytes, f"rank {rank}: {sent} bytes of exchanges, more than {max_bytes}")
        # Start-up has none over messages.
        check(barrier_messages == 2 * BARRIERS * barrier_messages_of(rank, ranks),
              f"rank {rank}: {barrier_messages} messages of {BARRIERS} barriers of each kind")
        met, others = peers[rank]
        check(others == ranks - 1, f"rank {rank} has {others} peers")
        most = len(partners_of(rank, ranks))
        check(met <= most, f"rank {rank} has had to do with {met} peers, more than {most}")
    print(f"{ranks} ranks: {exchanges} exchanges, at most {max(count[1] for count in counts.values())} messages "
          f"of a rank, at most {max(met for met, _ in peers.values())} peers")

    check_root(arguments.bin, FEW_RANKS * 2)
    check_page_tables(arguments.bin, ranks)
    check_heap(arguments.bin, printed, ranks)

    # One rank has the variable, not the lowest, and all follow it.
    few = 2 * NEIGHBORHOOD
    one_without = 'if [ "$GEX_RANK" = 3 ]; then export GEX_COLL_LEADERS=0; fi; exec "$@"'
    check_collectives(run(arguments.bin, few, ("sh", "-c", one_without, "sh")), few, by_leaders=False)


main()
