"""The launchers that start jobs on the hosts of a network (namespaces.py): gexrun, and the launchers of others.

    with launcher.ready(job):
        subprocess.Popen(launcher.command(job, 2, [...]), env=launcher.environment(job))

`layout`: how ranks are given to hosts, as gexrun's --map has it. `variables`: the names of those of
the environment that the ranks need.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

import namespaces


class Launcher:
    name = None
    is_ours = False
    # An expression for the processes and files of its own that may be on a host after a job, and on the
    # front end.
    stays = None
    # Ranks have a thread of PMIx's from the start, beside which one of them forks the guardian.
    by_pmix = False
    # The job ends with the launcher.
    ends_job = True
    # The launcher ends when a host cannot be reached any more, and when all of a host is gone.
    notices_lost_host = True
    notices_gone_host = True
    # The launcher prints all that the guardian of another host then prints: when all of a host is gone,
    # and when rank 0's cannot be reached.
    relays_when_gone = True
    relays_when_cut = True
    # A host's ranks can join when they reach the front end, and not yet the other hosts.
    joins_by_front = True

    def installed(self):
        raise NotImplementedError

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        raise NotImplementedError

    def environment(self, job):
        return {}

    def ready(self, job):
        """While it can be used."""
        return contextlib.nullcontext()

    def reports_death(self, number):
        """An expression for the line with which it reports a rank on the second host that was killed by
        a signal. Null: none."""
        return None

    def root(self, network):
        """Where the root of the job is, at which address, and the name of its process."""
        return network.hosts[0], network.hosts[0].address, "gex-root"

    def leftovers(self, place):
        return [name for name in place.leftovers() if not self._is_own(name)]

    def processes(self, place, besides=()):
        """The job's processes on a host or the front end. Another's launcher asks how they have ended
        when it likes."""
        return [name for process, name in place.named_processes(ended=self.is_ours).items()
                if process not in besides and not self._is_own(name)]

    def _is_own(self, name):
        return self.stays is not None and re.fullmatch(self.stays, name)


class Gexrun(Launcher):
    name = "gexrun"
    is_ours = True

    def installed(self):
        return True

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        return job.command(ranks_a_host, *words, options=["--map", layout])

    def root(self, network):
        return network.front, namespaces.FRONT_ADDRESS, "gexrun"


class Mpich(Launcher):
    name = "MPICH"
    # It breaks off as soon as it finds a connection closed.
    relays_when_gone = False

    def installed(self):
        return shutil.which("mpirun.mpich")

    def reports_death(self, number):
        return r"PID \d+ RUNNING AT host2"

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        network = job.network
        hosts = job.hosts(1 if layout == "cyclic" else ranks_a_host)
        return network.command(
            [self.installed(), "-launcher", "ssh", "-launcher-exec", network.ssh, "-localhost",
             namespaces.FRONT_ADDRESS, "-hosts", hosts, "-n",
             str(ranks_a_host * len(network.hosts)), *words])


class OpenMpi(Launcher):
    name = "Open MPI"
    by_pmix = True
    # It waits for TCP to give up, on both sides; and where ranks have died meanwhile it may pass on
    # nothing more.
    notices_lost_host = False
    relays_when_cut = False
    stays = r"orted|sh|nsenter|ompi\..*|pmix-.*"

    def installed(self):
        return shutil.which("mpirun.openmpi")

    def reports_death(self, number):
        return rf"rank [23] with PID \d+ on node host2 exited on signal {number}"

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        network = job.network
        return network.command(
            [self.installed(), "--allow-run-as-root", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent",
             network.ssh, "--host", job.hosts(ranks_a_host), "--map-by",
             "node" if layout == "cyclic" else "slot", "-n",
             str(ranks_a_host * len(network.hosts)),
             *(word for name in variables for word in ("-x", name)), *words])


class Slurm(Launcher):
    name = "Slurm"
    by_pmix = True
    stays = r"slurm.*|s?pmix.*|nsenter|munged|cat"
    # It has limits of its own for jobs without srun, and for hosts that send nothing.
    ends_job = False
    notices_lost_host = False
    notices_gone_host = False
    # What its processes send one another goes from host to host.
    joins_by_front = False
    SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../jobs/launch/slurm.sh")

    def installed(self):
        return shutil.which("srun") and shutil.which("slurmctld", path="/usr/sbin:/usr/bin:/sbin")

    def reports_death(self, number):
        return rf"srun: error: host2: tasks? [23].*: {signal.strsignal(number)}"

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        network = job.network
        return network.command(
            [shutil.which("srun"), "--quiet", "--mpi=pmix", "--overcommit", "--kill-on-bad-exit",
             f"--distribution={layout}",
             "--nodes", str(len(network.hosts)), "--ntasks-per-node", str(ranks_a_host), *words])

    def environment(self, job):
        return {"SLURM_CONF": os.path.join(self.folder, "slurm.conf")}

    @contextlib.contextmanager
    def ready(self, job):
        # The hosts see it, as they see the build.
        self.folder = tempfile.mkdtemp(dir=os.path.join(job.build, "tests"))
        network = job.network
        daemons = subprocess.Popen(
            network.command([self.SCRIPT, self.folder, network.rsh, namespaces.FRONT_ADDRESS,
                             *(f"{host.name}={host.address}" for host in network.hosts)]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if daemons.stdout.readline() != "ready\n":
                raise RuntimeError("Slurm cannot be started")
            yield
        finally:
            daemons.communicate()


class SlurmAllocation(Slurm):
    """gexrun in an interactive allocation of Slurm's, whose hosts it finds and reaches by srun."""
    name = "gexrun in an allocation of Slurm"
    by_pmix = False

    def installed(self):
        return super().installed() and shutil.which("salloc") and shutil.which("sbatch")

    def job_of_gexrun(self, job, ranks_a_host, words, layout):
        return [job.tool("gexrun"), "-n", str(ranks_a_host * len(job.network.hosts)), "--map", layout,
                *words]

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        return job.network.command(
            [shutil.which("salloc"), "--quiet", "--nodes", str(len(job.network.hosts)),
             "--ntasks-per-node", str(ranks_a_host), *self.job_of_gexrun(job, ranks_a_host, words, layout)])


class SlurmBatch(SlurmAllocation):
    """The same as a batch job, whose script runs on its first host."""
    name = "gexrun in a batch job of Slurm"

    def command(self, job, ranks_a_host, words, layout="block", variables=()):
        output, errors = (shlex.quote(os.path.join(self.folder, name)) for name in ("output", "errors"))
        script = shlex.join(self.job_of_gexrun(job, ranks_a_host, words, layout))
        submit = shlex.join([shutil.which("sbatch"), "--quiet", "--wait", "--nodes",
                             str(len(job.network.hosts)), "--ntasks-per-node", str(ranks_a_host),
                             "--wrap", script])
        return job.network.command(
            ["sh", "-c", f"{submit} --output={output} --error={errors}; status=$?; cat {output}; "
             f"cat {errors} >&2; exit $status"])


def end(process, hosts):
    """Kills a launcher, with the process group that it leads, and all that runs on these hosts."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for host in hosts:
        host.call("sh", "-c", "kill -KILL -1 || true")


OF_OTHERS = (Mpich(), OpenMpi(), Slurm())
IN_ALLOCATIONS = (SlurmAllocation(), SlurmBatch())
