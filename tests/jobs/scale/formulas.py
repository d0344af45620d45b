#!/usr/bin/env python3
"""What a job of many ranks has sent when it has started, attached and met at barriers.

    formulas.py --bin BUILD_FOLDER --ranks N

Its ranks count what they send in exchanges and barriers, and with how many others they have had to do.
All are functions of the number of ranks, of the tree of exchanges (src/team/exchange_tree.h) and of the
rounds of barriers; the counts must not be larger.
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
PEERS = re.compile(r"^gex: rank (\d+): udp: datagrams were exchanged with (\d+) of (\d+) other ranks$",
                   re.MULTILINE)
# What one rank gives to an exchange, with its size, and what one message of an exchange carries.
MAX_BLOCK = 256
MESSAGE = 8192


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


def partners_of(rank, ranks):
    """All with whom a rank exchanges datagrams: relatives in the tree, and partners of barriers."""
    parent, children = relatives_of(rank, ranks)
    partners = {*parent, *children}
    for step in range(barrier_messages_of(rank, ranks)):
        distance = NEIGHBORHOOD * 2 ** step
        partners |= {(rank + distance) % ranks, (rank - distance) % ranks}
    return {one for one in partners if one // NEIGHBORHOOD != rank // NEIGHBORHOOD}


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

    exchanges = counts[0][0]
    check(0 < exchanges < 8, f"{exchanges} exchanges to start and attach")
    whole_parts = -(-ranks * MAX_BLOCK // MESSAGE)
    for rank, (own_exchanges, messages, sent, barrier_messages) in counts.items():
        check(own_exchanges == exchanges, f"rank {rank} has taken part in {own_exchanges} exchanges")
        parent, children = relatives_of(rank, ranks)
        gathered_parts = -(-(end_of(rank, ranks) - rank) * MAX_BLOCK // MESSAGE)
        least = exchanges * (len(parent) + len(children))
        most = exchanges * (len(parent) * gathered_parts + len(children) * whole_parts)
        check(least <= messages <= most, f"rank {rank}: {messages} messages of exchanges, not {least} to {most}")
        most = exchanges * MAX_BLOCK * (len(parent) * (end_of(rank, ranks) - rank) + len(children) * ranks)
        check(sent <= most, f"rank {rank}: {sent} bytes of exchanges, more than {most}")
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
