#!/usr/bin/env python3
"""Measures collectives of libgex and of an MPI library in alternation, on the same cores.

For each row it prints the medians of both, libgex's with data on the heap, as MPI's are, and in
segments, the limit (nothing but the copies, by all ranks at once), and two ratios: MPI / libgex, above
1 where libgex is faster, and libgex in segments / limit. Without the MPI program it prints libgex's
columns alone.

    bench/coll_mpi/compare.py --bin build/release/bin --rounds 5
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys


def refuse(reason):
    print(f"compare.py: {reason}", file=sys.stderr)
    sys.exit(1)


def run(command, samples):
    """Adds the rows that a command prints to `samples`."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        refuse(f"{shlex.join(command)}: {error.strerror}")
    if done.returncode != 0:
        refuse(f"{shlex.join(command)}: exit status {done.returncode}")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        samples.setdefault(row["row"], []).extend(row["ns"])


def text(nanoseconds):
    """A time in the largest unit of which it has one, or a dash."""
    if nanoseconds is None:
        return "-"
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.4g} {unit}"
    return f"{nanoseconds:.4g} ns"


def ratio(one, other):
    return "-" if one is None or other is None else f"{one / other:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of the programs")
    parser.add_argument("--ranks", type=int, default=len(os.sched_getaffinity(0)),
                        help="default: as many as there are processors")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program")
    parser.add_argument("--rewrite", action="store_true",
                        help="the root writes to its data before each broadcast")
    parser.add_argument("--gexrun", help="the launcher of libgex (default: gexrun of --bin, bound)")
    parser.add_argument("--mpirun", default="mpirun --allow-run-as-root --bind-to core")
    parser.add_argument("--json", help="a file for all samples, in nanoseconds")
    options = parser.parse_args()
    if options.rounds < 1 or options.ranks < 2:
        parser.error("--rounds is at least 1, --ranks at least 2")

    arguments = ["-n", str(options.ranks)]
    program = ["--rewrite"] if options.rewrite else []
    gexrun = shlex.split(options.gexrun or os.path.join(options.bin, "gexrun") + " --bind core")
    gex = gexrun + arguments + [os.path.join(options.bin, "coll_gex")] + program
    peer = os.path.join(options.bin, "coll_mpi")
    commands = {"libgex": gex, "segments": gex + ["--segment"]}
    if os.path.exists(peer):
        commands["MPI"] = shlex.split(options.mpirun) + arguments + [peer] + program
    else:
        print(f"compare.py: {peer} is missing: libgex alone", file=sys.stderr)

    samples = {name: {} for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            run(command, samples[name])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"ranks": options.ranks, "rewrite": options.rewrite, "ns": samples}, file)

    def median(name, row):
        values = samples.get(name, {}).get(row)
        return statistics.median(values) if values else None

    print(f"{options.ranks} ranks, medians of {options.rounds} runs")
    print(f"{'':20} {'MPI':>10} {'libgex':>10} {'segments':>10} {'limit':>10} {'MPI/libgex':>11} "
          f"{'seg./limit':>11}")
    for row in samples["libgex"]:
        if row.startswith("limit."):
            continue
        mpi, heap, segments, limit = (median("MPI", row), median("libgex", row),
                                      median("segments", row), median("segments", "limit." + row))
        print(f"{row:20} {text(mpi):>10} {text(heap):>10} {text(segments):>10} {text(limit):>10} "
              f"{ratio(mpi, heap):>11} {ratio(segments, limit):>11}")


if __name__ == "__main__":
    main()
