#!/usr/bin/env python3
"""Puts of 8 bytes over the networks udp and ofi, and over mpi, between two hosts of namespaces.

    bench/native_over_mpi/compare.py --bin build/release

The hosts are joined by a bridge and veth links; each has a processor of its own. All go over the same
TCP/IP: ofi by libfabric's tcp;ofi_rxm, Open MPI by its btl tcp, MPICH by UCX's tcp. Below stands what
each MPI's own program takes for a message of 8 bytes and one back, the least that a put over it can.
Prints the medians, in turns, and how many times as fast as over each MPI the others are. Exits with 77
where the machine does not let us make such hosts. Needs root.
"""

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("tests/hosts", "bench/shaped_link"):
    sys.path.insert(0, os.path.join(ROOT, folder))

import measure  # noqa: E402  below the path
import namespaces  # noqa: E402

MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
# The way of each MPI.
BY_TCP = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "eth0",
          "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
EXCHANGES = 5000


class Ways:
    """Commands by which the ways are measured."""

    def __init__(self, network, build, samples):
        self.network = network
        self.build = build
        self.rsh = measure.bound(network, network.folder.name)
        self.hosts = ",".join(host.name for host in network.hosts)
        self.worker = [os.path.join(build, "libexec/gex/gexperf-seq"), "measure", "net.put.8",
                       str(samples)]

    def gexrun(self, conduit):
        return [os.path.join(self.build, "bin/gexrun"), "-n", "2", "--bind", "none", "--rsh", self.rsh,
                "--hosts", self.hosts, "--conduit", conduit, "--timeout", "60", *self.worker]

    def mpirun(self, mpi, command):
        found = shutil.which(f"mpirun.{mpi}")
        if mpi == "openmpi":
            return [found, "--allow-run-as-root", "--bind-to", "none", "--mca", "plm", "rsh", "--mca",
                    "plm_rsh_agent", self.rsh, "--host", self.hosts, "-n", "2",
                    *(word for name in (*BY_TCP, "GEX_CONDUIT", "GEX_MPI") for word in ("-x", name)),
                    *command]
        return [found, "-launcher", "ssh", "-launcher-exec", self.rsh, "-localhost",
                namespaces.FRONT_ADDRESS, "-hosts", self.hosts, "-n", "2", *command]

    def measured(self, command, variables):
        done = subprocess.run(self.network.command(command), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **BY_TCP, **variables}, timeout=60)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def put(self, command, variables):
        """The median of a run, in us."""
        output = self.measured(command, {"GASNET_SUPERNODE_MAXSIZE": "1", **variables})
        return statistics.median(float(line.split()[1]) for line in output.splitlines()) / 1e3

    def there_and_back(self, mpi):
        bare = os.path.join(self.build, f"libexec/gex/gexperf-mpi-bare-{mpi}")
        output = self.measured(self.mpirun(mpi, [bare, "ping_pong", "8", str(EXCHANGES)]),
                               {"GEX_CONDUIT": "", "GEX_MPI": ""})
        return 2 * float(output)

    def all(self):
        """What is measured in turn, by name."""
        ways = {}
        for conduit in ("udp", "ofi"):
            if conduit == "udp" or os.path.exists(os.path.join(self.build, "lib/libgex-ofi.so")):
                ways[conduit] = lambda conduit=conduit: self.put(
                    self.gexrun(conduit), {"GEX_OFI_PROVIDER": "tcp;ofi_rxm"})
        for mpi, title in MPIS.items():
            if not shutil.which(f"mpirun.{mpi}") or not os.path.exists(
                    os.path.join(self.build, f"lib/libgex-mpi-{mpi}.so")):
                continue
            variables = {"GEX_CONDUIT": "mpi", "GEX_MPI": mpi}
            command = self.mpirun(mpi, self.worker) if mpi == "openmpi" else self.gexrun("mpi")
            ways[f"mpi, {title}"] = lambda command=command, variables=variables: self.put(
                command, variables)
            ways[f"{title} alone"] = lambda mpi=mpi: self.there_and_back(mpi)
        return ways


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release", type=namespaces.build_folder,
                        help="the build's folder")
    parser.add_argument("--rounds", type=int, default=5, help="turns (default: 5)")
    parser.add_argument("--samples", type=int, default=25, help="samples of a run (default: 25)")
    options = parser.parse_args()
    try:
        with namespaces.Network(2, options.bin, "") as network:
            ways = Ways(network, options.bin, options.samples).all()
            runs = {name: [] for name in ways}
            for _ in range(options.rounds):
                for name, run in ways.items():
                    runs[name].append(run())
    except namespaces.Forbidden as error:
        print(f"compare.py: no hosts can be made of namespaces here: {error}", file=sys.stderr)
        return namespaces.SKIPPED
    medians = {name: statistics.median(values) for name, values in runs.items()}
    over_mpi = [name for name in medians if name.startswith("mpi, ")]
    print(f"{'':20} {'median us':>10} {'least us':>10}" +
          "".join(f" {'over ' + name[5:]:>14}" for name in over_mpi))
    for name, median in medians.items():
        print(f"{name:20} {median:10.2f} {min(runs[name]):10.2f}" +
              "".join(f" {medians[other] / median:14.2f}" for other in over_mpi))
    return 0


if __name__ == "__main__":
    sys.exit(main())
