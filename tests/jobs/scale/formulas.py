#!/usr/bin/env python3
"""What a job of many ranks has sent when it has started, attached, met at barriers, made teams and
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
COLLECTIVES = re.compile(r"^gex: rank (\d+): collectives: sent (\d+) messages with (\d+) bytes$",
                         re.MULTILINE)
PEERS = re.compile(r"^gex: rank (\d+): udp: datagrams were exchanged with (\d+) of (\d+) other ranks$",
                   re.MULTILINE)
# What one rank gives to an exchange, with its size, and what one message of an exchange carries.
MAX_BLOCK = 256
MESSAGE = 8192
WORD = 8


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
    reach = vertex & -vertex if vertex else count
    steps = [2 ** k for k in range(rounds_of(count)) if 2 ** k < reach and vertex + 2 ** k < count]
    parent = [(vertex & vertex - 1) * NEIGHBORHOOD] if vertex else []
    return parent, [(vertex + step) * NEIGHBORHOOD for step in steps]


def collective_of(rank, ranks):
    """Messages and bytes of a broadcast, two reductions, a gather to all and an exchange, of a word of each
    rank. The number of neighborhoods is a power of two."""
    parent, children = tree_of_leaders(rank, ranks)
    of_leader = len(children) + len(parent) + barrier_messages_of(rank, ranks)
    rounds = rounds_of(ranks)
    gathered = ranks - 1
    exchanged = sum(place >> k & 1 for k in range(rounds) for place in range(ranks))
    return of_leader + 2 * rounds, (of_leader + gathered + exchanged) * WORD


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    arguments = parser.parse_args()
    ranks = arguments.ranks
    done = subprocess.run(
        [f"{arguments.bin}/bin/gexrun", "-n", str(ranks), f"{arguments.bin}/tests/bin/scale_probe",
         str(BARRIERS)],
        env={**os.environ, "GEX_CONDUIT": "udp", "GASNET_SUPERNODE_MAXSIZE": str(NEIGHBORHOOD),
             "GEX_VERBOSE": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == 0, f"the job fails: {done.stdout}{done.stderr}")
    counts = {int(found[0]): [int(number) for number in found[1:]] for found in TEAMS.findall(done.stderr)}
    peers = {int(found[0]): [int(number) for number in found[1:]] for found in PEERS.findall(done.stderr)}
    check(sorted(counts) == list(range(ranks)), f"not one line of each rank: {done.stderr}")
    check(sorted(peers) == list(range(ranks)), f"peers of {len(peers)} ranks: {done.stderr}")

    collectives = {int(found[0]): (int(found[1]), int(found[2]))
                   for found in COLLECTIVES.findall(done.stderr)}
    exchanges = counts[0][0]
    check(0 < exchanges < 10, f"{exchanges} exchanges to start, attach and split")
    for rank, (own_exchanges, messages, sent, barrier_messages) in counts.items():
        check(own_exchanges == exchanges, f"rank {rank} has taken part in {own_exchanges} exchanges")
        # The last is that of the new team.
        whole, half = exchange_bounds(rank, ranks), exchange_bounds(rank // 2, ranks // 2)
        least, most, max_bytes = [(exchanges - 1) * one + other for one, other in zip(whole, half)]
        check(least <= messages <= most, f"rank {rank}: {messages} messages of exchanges, not {least} to {most}")
        check(sent <= max_bytes, f"rank {rank}: {sent} bytes of exchanges, more than {max_bytes}")
        check(collectives.get(rank) == collective_of(rank, ranks),
              f"rank {rank}: {collectives.get(rank)} messages and bytes of collectives, not "
              f"{collective_of(rank, ranks)}")
        # Start-up has none over messages.
        check(barrier_messages == 2 * BARRIERS * barrier_messages_of(rank, ranks),
              f"rank {rank}: {barrier_messages} messages of {BARRIERS} barriers of each kind")
        met, others = peers[rank]
        check(others == ranks - 1, f"rank {rank} has {others} peers")
        most = len(partners_of(rank, ranks))
        check(met <= most, f"rank {rank} has had to do with {met} peers, more than {most}")
    print(f"{ranks} ranks: {exchanges} exchanges, at most {max(count[1] for count in counts.values())} messages "
          f"of a rank, at most {max(met for met, _ in peers.values())} peers")


main()
