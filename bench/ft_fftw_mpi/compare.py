#!/usr/bin/env python3
"""Runs apps/ft and the same problem with FFTW's own MPI transform, in alternation, on the same cores.

Prints the median, the least and the greatest seconds of each and the ratio of the medians: above 1
means that ft is faster. A run that cannot be started or does not verify ends it.

    bench/ft_fftw_mpi/compare.py --bin build/release/bin --class A --rounds 7
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


def run(command):
    """The JSON object that a command prints."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        return json.loads(done.stdout)
    except OSError as error:
        refuse(f"{shlex.join(command)}: {error.strerror}")
    except ValueError:
        refuse(f"{shlex.join(command)}: exit status {done.returncode} and no JSON")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of the programs")
    parser.add_argument("--class", dest="problem", default="A")
    parser.add_argument("--variants", default="exchange,slabs,pencils")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gexrun", help="the launcher of ft (default: gexrun of --bin, bound)")
    parser.add_argument(
        "--mpirun", default="mpirun --allow-run-as-root --bind-to core", help="the launcher of the peer"
    )
    options = parser.parse_args()
    if options.rounds < 1 or options.ranks < 1:
        parser.error("--rounds and --ranks are at least 1")

    ranks = ["-n", str(options.ranks)]
    gexrun = shlex.split(options.gexrun or os.path.join(options.bin, "gexrun") + " --bind core")
    ft = gexrun + ranks + [os.path.join(options.bin, "ft"), "--class", options.problem, "--json"]
    peer = shlex.split(options.mpirun) + ranks
    peer += [os.path.join(options.bin, "ft_fftw_mpi"), "--class", options.problem]

    seconds = {name: [] for name in options.variants.split(",")}
    seconds["FFTW-MPI"] = []
    for _ in range(options.rounds):
        # Each variant stands beside a run of the peer of its own, so that a slow spell of the
        # machine falls on both.
        for name in seconds:
            if name == "FFTW-MPI":
                continue
            for key, report in (
                (name, run(ft + ["--variant", name])["variants"][0]),
                ("FFTW-MPI", run(peer)),
            ):
                if not report["verified"]:
                    refuse(f"{key} did not verify")
                seconds[key].append(report["seconds"])

    reference = statistics.median(seconds["FFTW-MPI"])
    print(f"class {options.problem}, {options.ranks} ranks, {options.rounds} rounds")
    print(f"{'':10} {'median s':>10} {'least s':>10} {'greatest s':>10} {'FFTW-MPI / it':>14}")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(
            f"{name:10} {median:10.4f} {min(values):10.4f} {max(values):10.4f} "
            f"{reference / median:14.2f}"
        )


if __name__ == "__main__":
    main()
