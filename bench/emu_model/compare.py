#!/usr/bin/env python3
"""Holds what operations take over emu against what its model says (docs/emu.md), for many models.

Prints for each model the ratio of each operation, and in the end the one furthest from 1.

    bench/emu_model/compare.py --bin build/release/bin --rounds 5
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys

NETWORKS = ["myrinet", "elan3", "elan4", "infiniband", "xt", "aries", "edr"]
HEADER = 16
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "/s": 1, "M/s": 1e6, "MB/s": 1e6}
LEAST_LATENCY_US = 1


def refuse(reason):
    print(f"compare.py: {reason}", file=sys.stderr)
    sys.exit(1)


def output_of(command, variables=None):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **(variables or {})})
    except OSError as error:
        refuse(f"{shlex.join(command)}: {error.strerror}")
    if done.returncode != 0:
        refuse(f"{shlex.join(command)}: exit status {done.returncode}")
    return done.stdout


class Model:
    """A value of GEX_EMU, as gexinfo understands it: in nanoseconds, and bytes a second."""

    def __init__(self, folder, text):
        self.text = text
        facts = json.loads(output_of([os.path.join(folder, "gexinfo"), "--json"], {"GEX_EMU": text}))
        emu = next(conduit for conduit in facts["conduits"] if conduit["name"] == "emu")
        said = next(choice["text"] for choice in emu["choices"] if choice["name"] == "model")
        values = {name: float(number) * UNITS[unit]
                  for name, number, unit in re.findall(r"(\w+) ([\d.e+]+) (\S+?)(?:,|$)", said)
                  if unit in UNITS}
        self.latency = values.get("latency", 0)
        self.send = values.get("send_overhead", 0)
        self.receive = values.get("receive_overhead", 0)
        self.bandwidth = values.get("bandwidth", 0)
        rate = values.get("rate", 0)
        self.least = max(values.get("gap", 0), 1e9 / rate if rate else 0, self.send)

    def wire(self, size):
        return size / self.bandwidth * 1e9 if self.bandwidth else 0

    def one_way(self, size):
        return self.send + self.wire(size + HEADER) + self.latency + self.receive

    def nanoseconds(self, operation, size):
        if operation in ("put", "get"):
            return self.send + self.wire(size) + 2 * self.latency
        if operation in ("put-flood", "get-flood"):
            return max(self.wire(size), self.least)
        if operation == "message":
            return self.one_way(size) + self.one_way(0)
        # The answers go the other way, and are shorter.
        return max(self.wire(size + HEADER), self.least, self.receive)


def copy_bandwidth(folder):
    """Bytes a second of a copy that finds its source in the cache."""
    for line in output_of([os.path.join(folder, "gexperf"), "limits"]).splitlines():
        words = line.split()
        if words[:1] == ["limit.memcpy.1048576"]:
            return float(words[1]) / float(words[2]) * 1e9
    refuse("gexperf does not say what a copy takes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of the programs")
    parser.add_argument("--latencies", default="1,2,6,20,100", help="in microseconds")
    parser.add_argument("--bandwidths", default="0.1,0.5,2",
                        help="in 10^9 bytes a second; half of a copy's is tried as well")
    parser.add_argument("--networks", nargs="*", default=NETWORKS, help="names for GEX_EMU")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")

    half = copy_bandwidth(options.bin) / 2
    models = []
    for latency in options.latencies.split(","):
        for bandwidth in [*options.bandwidths.split(","), f"{half / 1e9:.1f}"]:
            text = f"latency={latency}us,bandwidth={bandwidth}GB/s"
            models.append(Model(options.bin, text))
    models += [Model(options.bin, name) for name in options.networks]

    command = [os.path.join(options.bin, "gexrun"), "--bind", "core", "--conduit", "emu", "-n", "2",
               os.path.join(options.bin, "emu_model"), str(options.rounds)]
    worst = (1, "")
    for at, model in enumerate(models):
        ratios = []
        lines = output_of(command, {"GEX_EMU": model.text, "GASNET_SUPERNODE_MAXSIZE": "1"})
        for line in lines.splitlines():
            operation, size, nanoseconds = line.split()
            ratio = float(nanoseconds) / model.nanoseconds(operation, int(size))
            ratios.append((f"{operation}.{size}", ratio))
            in_range = model.latency >= LEAST_LATENCY_US * 1e3 and 0 < model.bandwidth <= half
            if in_range and abs(ratio - 1) > abs(worst[0] - 1):
                worst = (ratio, f"{operation}.{size} over {model.text}")
        if at == 0:
            print(f"{'':34}" + "".join(f"{name:>19}" for name, _ in ratios))
        print(f"{model.text:34}" + "".join(f"{ratio:19.3f}" for _, ratio in ratios), flush=True)
    print(f"furthest from its model where that is of at least {LEAST_LATENCY_US} us and at most half a "
          f"copy's {2 * half / 1e9:.1f} GB/s: {worst[0]:.3f}, {worst[1]}")


if __name__ == "__main__":
    main()
