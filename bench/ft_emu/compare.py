#!/usr/bin/env python3
"""Runs apps/ft over emu, pretending to be one network after the other, its variants in alternation.

Prints for each network the median seconds of each variant, and how many times as fast as the
exchange of everything at once the overlapped ones are. A run that does not verify ends it.

    bench/ft_emu/compare.py --bin build/release/bin --class W --rounds 5
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys

NETWORKS = ["myrinet", "elan3", "elan4", "infiniband", "xt", "aries", "edr"]
EXCHANGE = "exchange"


def refuse(reason):
    print(f"compare.py: {reason}", file=sys.stderr)
    sys.exit(1)


def seconds_of(command, model):
    """The time that a run over that network takes."""
    variables = dict(os.environ, GEX_EMU=model, GASNET_SUPERNODE_MAXSIZE="1")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, env=variables, check=False)
        report = json.loads(done.stdout)["variants"][0]
    except OSError as error:
        refuse(f"{shlex.join(command)}: {error.strerror}")
    except ValueError:
        refuse(f"{shlex.join(command)}: exit status {done.returncode} and no JSON")
    if not report["verified"]:
        refuse(f"{shlex.join(command)} did not verify")
    return report["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of the programs")
    parser.add_argument("--class", dest="problem", default="W")
    parser.add_argument("--networks", nargs="*", default=NETWORKS, help="values of GEX_EMU")
    parser.add_argument("--variants", default="exchange,slabs,pencils")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    variants = options.variants.split(",")
    if options.rounds < 1 or options.ranks < 1 or EXCHANGE not in variants:
        parser.error(f"--rounds and --ranks are at least 1, and {EXCHANGE} is among the variants")

    ft = [os.path.join(options.bin, "gexrun"), "--bind", "core", "--conduit", "emu"]
    ft += ["-n", str(options.ranks), os.path.join(options.bin, "ft")]
    ft += ["--class", options.problem, "--json", "--variant"]

    print(f"class {options.problem}, {options.ranks} ranks, medians of {options.rounds} rounds")
    print(f"{'':24}" + "".join(f"{name + ' s':>14} {'x':>6}" for name in variants))
    for network in options.networks:
        seconds = {name: [] for name in variants}
        for _ in range(options.rounds):
            for name in variants:
                seconds[name].append(seconds_of(ft + [name], network))
        median = {name: statistics.median(values) for name, values in seconds.items()}
        print(
            f"{network:24}"
            + "".join(f"{median[name]:14.4f} {median[EXCHANGE] / median[name]:6.2f}" for name in variants)
        )


if __name__ == "__main__":
    main()
