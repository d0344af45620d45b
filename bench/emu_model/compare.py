#!/usr/bin/env python3
"""Runs `gexperf emu` over many models (docs/emu.md), and prints how true emu is to each of them.

Prints for each model how many times what it promises each row took, and in the end which was furthest
from it. A star marks what no quiet run was to be had of.

    bench/emu_model/compare.py --bin build/release/bin
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys

NETWORKS = ["myrinet", "elan3", "elan4", "infiniband", "xt", "aries", "edr"]
LEAST_LATENCY_US = 1


def refuse(reason):
    print(f"compare.py: {reason}", file=sys.stderr)
    sys.exit(1)


def json_of(command, **variables):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **variables})
    except OSError as error:
        refuse(f"{shlex.join(command)}: {error.strerror}")
    if done.returncode != 0:
        refuse(f"{shlex.join(command)}: exit status {done.returncode}")
    return json.loads(done.stdout)


class Programs:
    def __init__(self, options):
        self.gexinfo = os.path.join(options.bin, "gexinfo")
        self.gexperf = [os.path.join(options.bin, "gexperf"), "--json", "--rounds",
                        str(options.rounds), "--runs", str(options.runs)]

    def copy_mb(self):
        """10^6 bytes a second of a copy that finds its source in the cache."""
        row = next(row for row in json_of([*self.gexperf, "limits"])
                   if row["name"] == "limit.memcpy.1048576")
        return int(row["size"]) / row["value"] * 1e3

    def rows(self, model):
        return json_of([*self.gexperf, "emu", "--model", model])

    def network(self, model):
        """Its latency in microseconds, and its bandwidth in 10^6 bytes a second."""
        conduits = json_of([self.gexinfo, "--json"], GEX_EMU=model)["conduits"]
        emu = next(conduit for conduit in conduits if conduit["name"] == "emu")
        text = next(choice["text"] for choice in emu["choices"] if choice["name"] == "model")
        bandwidth = re.search(r"\bbandwidth (\S+) MB/s", text)
        return (float(re.search(r"\blatency (\S+) us", text)[1]),
                float(bandwidth[1]) if bandwidth else float("inf"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of the programs")
    parser.add_argument("--latencies", default="1,2,6,20,100", help="in microseconds")
    parser.add_argument("--bandwidths", default="0.1,0.5,2",
                        help="in 10^9 bytes a second; half of a copy's is tried as well")
    parser.add_argument("--networks", nargs="*", default=NETWORKS, help="other values of GEX_EMU")
    parser.add_argument("--rounds", type=int, default=9, help="of each run of gexperf")
    parser.add_argument("--runs", type=int, default=1, help="quiet ones of each row")
    options = parser.parse_args()

    programs = Programs(options)
    half = int(programs.copy_mb() / 2)
    bandwidths = [f"{bandwidth}GB/s" for bandwidth in options.bandwidths.split(",")]
    models = [f"latency={latency}us,bandwidth={bandwidth}"
              for latency in options.latencies.split(",") for bandwidth in [*bandwidths, f"{half}MB/s"]]

    worst = None
    for at, model in enumerate([*models, *options.networks]):
        rows = programs.rows(model)
        latency, bandwidth = programs.network(model)
        if at == 0:
            print(f"{'':34}" + "".join(f"{row['name'].removeprefix('emu.'):>17}" for row in rows))
        print(f"{model:34}" + "".join(f"{row['ratio']:16.3f}{' ' if row['accepted'] else '*'}"
                                      for row in rows), flush=True)
        if latency < LEAST_LATENCY_US or bandwidth > half:
            continue
        for row in rows:
            if row["accepted"] and (worst is None or abs(row["ratio"] - 1) > abs(worst[0] - 1)):
                worst = (row["ratio"], f"{row['name']} over {model}")
    furthest = f"{worst[0]:.3f}, {worst[1]}" if worst else "no run was quiet"
    print(f"furthest from its model, of those with at least {LEAST_LATENCY_US} us and at most {half} "
          f"MB/s, which is half of a copy's: {furthest}")


if __name__ == "__main__":
    main()
