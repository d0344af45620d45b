"""How the programs of each system are started, what they print, and whether they are there."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys

from hosts import namespaces


@dataclasses.dataclass(frozen=True)
class Scale:
    """How thoroughly is measured."""

    name: str
    rounds: int       # runs of each command
    samples: int      # of each point in a run
    milliseconds: float  # of a sample
    sizes: int        # points of a curve at most; 0: all
    ft_class: str
    large_ft_class: str
    seconds: float = 0  # begin nothing behind them; 0: no limit


FULL = Scale("full", rounds=5, samples=5, milliseconds=20, sizes=0, ft_class="A", large_ft_class="B")
QUICK = Scale("quick", rounds=3, samples=3, milliseconds=3, sizes=6, ft_class="W", large_ft_class="W",
              seconds=265)
TINY = Scale("tiny", rounds=1, samples=1, milliseconds=0.2, sizes=2, ft_class="S", large_ft_class="S")


def version_line(command, environment):
    """The first line with a number of a version; empty without one."""
    try:
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False, timeout=20, env=environment).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = [" ".join(line.split()).strip("# ") for line in output.splitlines()]
    # MPICH prints a heading first.
    return next((line for line in lines if re.search(r"\d\.\d", line)), "")


def rows_of_lines(output):
    """{"row": NAME, "ns": [...]} (or "bytes") on each line: the programs of bench/peers."""
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {row["row"]: row["ns"] if "ns" in row else row["bytes"] for row in rows}


def rows_of_gexperf(output):
    """`gexperf --json`, in its own units: a row, and its limit by the row's name and ".limit"."""
    rows = {}
    for row in json.loads(output):
        rows[row["name"]] = [row["value"]]
        if row["limit"] is not None:
            rows[f"{row['name']}.limit"] = [row["limit"]]
    return rows


def rows_of_ft(output):
    """Seconds of each variant, of its ranks in communication on average, and of computing of all together."""
    result = json.loads(output)
    rows = {}
    for variant in result["variants"]:
        name = variant["variant"]
        if not variant["verified"]:
            raise ValueError(f"{name} did not verify")
        rows[f"{name}.seconds"] = [variant["seconds"]]
        communication = variant["starting"]["average"] + variant["waiting"]["average"]
        rows[f"{name}.communication"] = [communication]
        rows[f"{name}.work"] = [result["ranks"] * (variant["seconds"] - communication)]
    return rows


def rows_of_fftw(output):
    result = json.loads(output)
    if not result["verified"]:
        raise ValueError("it did not verify")
    return {"fftw.seconds": [result["seconds"]]}


class System:
    """A library with its launcher. `program` is one of the build's folder."""

    def __init__(self, name, program, is_ours, packages, parse=rows_of_lines):
        self.name = name
        self.program = program
        self.is_ours = is_ours
        self.packages = packages
        self.parse = parse

    def launcher(self, build, ranks, cores):
        raise NotImplementedError

    def launcher_name(self):
        raise NotImplementedError

    def missing(self, build):
        """Why nothing of it can be measured; empty: it can."""
        launcher = self.launcher_name()
        if launcher and not shutil.which(launcher):
            return f"{launcher} is not installed (Debian: {self.packages})"
        if not os.access(os.path.join(build, "bin", self.program), os.X_OK):
            return f"bin/{self.program} was not built (Debian: {self.packages}; then build again)"
        return ""

    def command(self, build, ranks, cores, arguments):
        return [*self.launcher(build, ranks, cores), os.path.join(build, "bin", self.program),
                *arguments]

    def lacks(self):
        """The needs that this machine does not meet, which is no failure; empty: it meets all."""
        return ""

    def between(self, build, hosts, rsh, arguments, environment):
        """The command of a job with a rank on each of two hosts, on which `rsh` starts it."""
        raise NotImplementedError

    def version(self, build):
        """As its launcher prints it; empty if it does not."""
        launcher = self.launcher_name() or os.path.join(build, "bin/gexrun")
        return version_line([launcher, "--version"], self.environment())

    def environment(self):
        return dict(os.environ)


class Gex(System):
    def __init__(self, program="peer_gex", parse=rows_of_lines):
        super().__init__("libgex", program, True, "", parse)

    def launcher_name(self):
        return ""

    def launcher(self, build, ranks, cores):
        return [os.path.join(build, "bin/gexrun"), "-n", str(ranks), "--bind",
                "core" if ranks <= cores else "none"]

    def between(self, build, hosts, rsh, arguments, environment):
        return [os.path.join(build, "bin/gexrun"), "-n", "2", "--bind", "none", "--rsh", rsh, "--hosts",
                ",".join(hosts), "--timeout", "60", os.path.join(build, "bin", self.program), *arguments]


class Gexperf(Gex):
    """Starts its own jobs. Its arguments are names of rows."""

    def __init__(self):
        super().__init__("gexperf", rows_of_gexperf)

    def launcher(self, build, ranks, cores):
        return []


class GexperfCuda(Gexperf):
    def lacks(self):
        # A driver that is named may be another one's.
        if os.path.exists("/dev/nvidiactl") or os.environ.get("GEX_CUDA_LIBRARY"):
            return ""
        return "this machine has no NVIDIA GPU"


class OpenMpi(System):
    def __init__(self, name="Open MPI", program="peer_openmpi", launcher="mpirun.openmpi",
                 parse=rows_of_lines, packages="openmpi-bin libopenmpi-dev"):
        super().__init__(name, program, False, packages, parse)
        self._launcher = launcher

    def launcher_name(self):
        return self._launcher

    def launcher(self, build, ranks, cores):
        binding = ["--bind-to", "core"] if ranks <= cores else ["--oversubscribe", "--bind-to", "none"]
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        return [self._launcher, *root, *binding, "-n", str(ranks)]

    def between(self, build, hosts, rsh, arguments, environment):
        variables = [word for name in environment for word in ("-x", name)]
        return [self._launcher, "--allow-run-as-root", "--bind-to", "none", "--mca", "plm", "rsh", "--mca",
                "plm_rsh_agent", rsh, "--host", ",".join(hosts), "-n", "2", *variables,
                os.path.join(build, "bin", self.program), *arguments]

    def environment(self):
        return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Mpich(System):
    def __init__(self, program="peer_mpich", parse=rows_of_lines):
        super().__init__("MPICH", program, False, "mpich libmpich-dev", parse)

    def launcher_name(self):
        return "mpirun.mpich"

    def launcher(self, build, ranks, cores):
        return ["mpirun.mpich", *(["-bind-to", "core"] if ranks <= cores else []), "-n", str(ranks)]

    def between(self, build, hosts, rsh, arguments, environment):
        return ["mpirun.mpich", "-launcher", "ssh", "-launcher-exec", rsh, "-localhost",
                namespaces.FRONT_ADDRESS, "-hosts", ",".join(hosts), "-n", "2",
                os.path.join(build, "bin", self.program), *arguments]


class Lci(Mpich):
    """Started by MPICH's launcher, which binds its ranks; its own does not."""

    def __init__(self):
        super().__init__("peer_lci")
        self.name = "LCI"

    def missing(self, build):
        return super().missing(build) and (
            "LCI is not there: Debian has no package of it; with it installed, build again with "
            "-DLCI_DIR=PREFIX/lib/cmake, and mpich")

    def version(self, build):
        return version_line([os.path.join(build, "bin", self.program), "--version"], self.environment())


class Tool(System):
    """A network's own tools, of two ends (bench/peers/two_ends.py)."""

    TWO_ENDS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers/two_ends.py")

    def __init__(self, name, tool, program, package):
        super().__init__(name, program, False, package)
        self.tool = tool

    def launcher_name(self):
        return self.program

    def missing(self, build):
        return "" if shutil.which(self.program) else (
            f"{self.program} is not installed (Debian: {self.packages})")

    def command(self, build, ranks, cores, arguments):
        flood = os.path.join(build, "libexec/gex/gexperf-fi-flood")
        words = ["--fi-flood", flood] if self.tool == "libfabric" and os.path.exists(flood) else []
        return [sys.executable, "-B", self.TWO_ENDS, self.tool, *words, *arguments]

    def version(self, build):
        query = {"ucx": ["ucx_info", "-v"], "libfabric": ["fi_info", "--version"]}[self.tool]
        return version_line(query, self.environment())


SYSTEMS = {
    "ucx": Tool("UCX's ucx_perftest", "ucx", "ucx_perftest", "ucx-utils"),
    "libfabric": Tool("libfabric's fi_pingpong", "libfabric", "fi_pingpong", "libfabric-bin"),
    "gex": Gex(),
    "gexperf": Gexperf(),
    "gexperf_cuda": GexperfCuda(),
    "openmpi": OpenMpi(),
    "mpich": Mpich(),
    "lci": Lci(),
    "shmem": OpenMpi("OpenSHMEM of Open MPI", "peer_shmem", "oshrun"),
    "gex_par": Gex("peer_gex_par"),
    "ft": Gex("ft", rows_of_ft),
    "ft_mpi": OpenMpi(program="ft_mpi", parse=rows_of_ft),
    "fftw": OpenMpi("FFTW's MPI transform", "ft_fftw_mpi", parse=rows_of_fftw,
                    packages="openmpi-bin libopenmpi-dev libfftw3-mpi-dev"),
}
