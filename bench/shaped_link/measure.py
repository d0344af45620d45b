#!/usr/bin/env python3
"""Runs `gexperf ofi` between two hosts of namespaces whose link is shaped by tc.

    bench/shaped_link/measure.py --bin build/release --shape "tbf rate 1gbit burst 256kb latency 50ms"

Each host has a processor of its own. What gexperf prints is passed on, and its exit status; 77 where
the machine does not let us make such hosts. Needs root.
"""

import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/hosts"))

import namespaces  # noqa: E402

SHAPES = ["", "tbf rate 10gbit burst 64kb latency 50ms", "tbf rate 1gbit burst 4kb latency 50ms"]


def bound(network, folder):
    """An ssh that gives each host one of the first two processors."""
    path = os.path.join(folder, "ssh-bound")
    processors = sorted(os.sched_getaffinity(0))[:2]
    with open(path, "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\ncase $1 in\n')
        for host, processor in zip(network.hosts, processors):
            script.write(f'{host.name}) exec taskset -c {processor} {network.ssh} "$@" ;;\n')
        script.write("esac\nexit 255\n")
    os.chmod(path, 0o755)
    return path


def measure(build, shape, arguments):
    with namespaces.Network(2, build, shape) as network:
        print(f"link: {shape or 'veth as it is'}", flush=True)
        names = ",".join(host.name for host in network.hosts)
        command = [os.path.join(build, "bin/gexperf"), "ofi", "--hosts", names, "--rsh",
                   bound(network, network.folder.name), *arguments]
        return subprocess.run(network.command(command), stdin=subprocess.DEVNULL,
                              check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release", type=namespaces.build_folder,
                        help="the build's folder")
    parser.add_argument("--shape", action="append", help="for tc qdisc add; several: one after the "
                        "other (default: none, 10 Gbit/s, 1 Gbit/s)")
    parser.add_argument("arguments", nargs="*", help="for gexperf, behind --")
    options = parser.parse_args()
    try:
        for shape in options.shape or SHAPES:
            status = measure(options.bin, shape, options.arguments)
            if status != 0:
                return status
    except namespaces.Forbidden as error:
        print(f"measure.py: no hosts can be made of namespaces here: {error}", file=sys.stderr)
        return namespaces.SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
