#!/usr/bin/env python3
"""MPI and libgex in one program over the network mpi: either comes first, and either ends first.

    mpi_test.py [TestClass...]

The environment names gexrun (GEXRUN), gexinfo (GEXINFO) and, of the MPIs that are there, the programs
(OPENMPI_CLIENT, MPICH_CLIENT, and ABI_CLIENT of one with MPI's standard binary interface) and the
launchers (OPENMPI_RUN, MPICH_RUN, ABI_RUN), and tests/jobs/launch/without_call (WITHOUT_CALL).
"""

import errno
import json
import os
import subprocess
import time
import unittest

GEXRUN = os.environ["GEXRUN"]
GEXINFO = os.environ["GEXINFO"]
MPIS = ("openmpi", "mpich", "abi")
CLIENTS = {mpi: os.environ.get(f"{mpi.upper()}_CLIENT") for mpi in MPIS}
LAUNCHERS = {mpi: os.environ.get(f"{mpi.upper()}_RUN") for mpi in MPIS}
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("GEX_", "GASNET_", "PMI", "OMPI_"))}
APART = {"GEX_CONDUIT": "mpi", "GASNET_SUPERNODE_MAXSIZE": "1"}
# MPICH notices at once that a peer has ended.
OVER_TCP = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
RANKS = 3
# A finalization that hangs is given up after ten seconds.
SECONDS = 8


def run(command, **variables):
    begun = time.monotonic()
    done = subprocess.run(command, env={**CLEAN, **OPEN_MPI, **APART, **variables}, text=True,
                          errors="replace", capture_output=True, check=False, timeout=40)
    done.took = time.monotonic() - begun
    return done


class Case(unittest.TestCase):
    def start(self, launcher, mpi, *steps, **variables):
        """A program of an MPI by gexrun, or by the launcher of an MPI."""
        by = GEXRUN if launcher == "gexrun" else LAUNCHERS[launcher]
        if not by or not CLIENTS[mpi]:
            self.skipTest(f"{mpi} or {launcher} is not installed")
        return run([by, "-n", str(RANKS), CLIENTS[mpi], *steps], **variables)

    def succeed(self, *words, finalized=RANKS, found=0, **variables):
        done = self.start(*words, **variables)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(lines.count("talked"), RANKS * words.count("talk"), done.stdout)
        self.assertEqual(lines.count("finalized"), finalized, done.stdout)
        self.assertEqual(lines.count("found initialized"), found, done.stdout)
        self.assertNotIn("gex: ", done.stderr)
        self.assertLess(done.took, SECONDS)

    def refuse(self, line, *words, **variables):
        """The job is refused: libgex prints this line, and one with the network's name, in either order,
        since they are of two ranks."""
        self.expect_refused(line, self.start(*words, **variables))

    def expect_refused(self, line, done):
        ours = [one for one in done.stderr.splitlines() if one.startswith("gex: ")]
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(ours), 2, done.stderr)
        self.assertRegex("\n".join(ours), f"(?m){line}")
        self.assertRegex("\n".join(ours), "(?m)conduit mpi cannot be used here$")
        self.assertLess(done.took, SECONDS)


class Gexrun(Case):
    """It starts the processes of MPICH's, without a launcher of MPICH's."""

    def test_the_conduit_initializes_and_finalizes(self):
        self.succeed("gexrun", "mpich", "gex-init", "talk")

    def test_gasnet_exit_finalizes(self):
        self.succeed("gexrun", "mpich", "gex-init", "talk", "gex-exit")

    def test_finalization_waits_for_a_late_rank(self):
        self.succeed("gexrun", "mpich", "gex-init", "talk", "late", **OVER_TCP)

    def test_a_program_finds_mpi_initialized(self):
        self.succeed("gexrun", "mpich", "gex-init", "mpi-init", "talk", found=RANKS)

    def test_a_program_may_finalize_what_the_conduit_initialized(self):
        self.succeed("gexrun", "mpich", "gex-init", "talk", "mpi-finalize")

    def test_a_program_that_initializes_first_needs_a_launcher_of_mpi(self):
        self.refuse(r"mpi: MPICH has a world of 1 processes, the job one of 3: start the program with "
                    r"the mpirun of MPICH$", "gexrun", "mpich", "mpi-init", "gex-init")

    def test_a_thread_that_cannot_be_started_is_named(self):
        if not CLIENTS["mpich"]:
            self.skipTest("mpich is not installed")
        without_threads = [os.environ["WITHOUT_CALL"], str(errno.EAGAIN), "thread"]
        self.expect_refused("mpi: cannot start the thread that answers MPI: Resource temporarily "
                            "unavailable$",
                            run([*without_threads, CLIENTS["mpich"], "gex-init"],
                                GASNET_PSHM_NODES=str(RANKS)))

    def test_open_mpi_needs_its_own_launcher(self):
        self.refuse(r"mpi: processes of Open MPI find one another by its launcher only: ", "gexrun",
                    "openmpi", "gex-init")


class Abort(Case):
    """MPI_Abort ends the job, with its code."""

    def test_by_gexrun(self):
        done = self.start("gexrun", "mpich", "gex-init", "talk", "mpi-abort")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("MPI_Abort", done.stderr)
        self.assertLess(done.took, SECONDS)

    def test_by_each_launcher(self):
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                done = self.start(mpi, mpi, "gex-init", "talk", "mpi-abort")
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertLess(done.took, SECONDS)


class Hang(Case):
    """MPI_Finalize that does not return, or fails, is given up, and the job's status is its own."""

    def give_up(self, step, reason):
        for last in ((), ("gex-exit",)):
            with self.subTest(last):
                done = self.start("gexrun", "mpich", "gex-init", "talk", step, *last)
                ours = [one for one in done.stderr.splitlines() if one.startswith("gex: ")]
                self.assertEqual((done.returncode, len(ours)), (0, 1), done.stderr)
                self.assertRegex(ours[0], rf"^gex: rank \d: MPI_Finalize, which .* has {reason}")

    def test_finalization(self):
        self.give_up("hang", "not returned within 10 s; this process exits without it ")

    def test_finalization_that_exits(self):
        self.give_up("fail", r"failed and called exit\(3\); this process exits with 0 all the same$")


class Launchers(Case):
    """Each MPI by its own launcher."""

    def by_each(self, *words, **wanted):
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                self.succeed(mpi, mpi, *words, **wanted)

    def test_mpi_first_and_finalized_by_the_program(self):
        self.by_each("mpi-init", "gex-init", "talk", "mpi-finalize")

    def test_mpi_first_and_the_job_ends_first(self):
        self.by_each("mpi-init", "gex-init", "talk", "gex-exit")

    def test_libgex_first(self):
        self.by_each("gex-init", "talk")

    def test_libgex_first_and_the_job_ends_first(self):
        self.by_each("gex-init", "talk", "gex-exit")

    def test_libgex_first_and_the_program_would_initialize(self):
        self.by_each("gex-init", "mpi-init", "talk", found=RANKS)

    def test_libgex_first_and_the_program_finalizes(self):
        self.by_each("gex-init", "talk", "mpi-finalize")

    def test_the_conduit_leaves_the_programs_mpi_alone(self):
        # MPICH's launcher takes it as it is, Open MPI's for a failure.
        self.succeed("mpich", "mpich", "mpi-init", "gex-init", "talk", finalized=0)

    def test_finalized_mpi_cannot_be_used(self):
        # MPICH has ended its connection to the launcher then, by which libgex would join the job.
        self.refuse("mpi: the program has finalized MPI, which cannot be initialized again$",
                    "openmpi", "openmpi", "mpi-init", "mpi-finalize", "gex-init")


class StandardAbi(Case):
    """An MPI with the standard binary interface, by its own launcher, and by gexrun."""

    def test_mpi_first_and_finalized_by_the_program(self):
        self.succeed("abi", "abi", "mpi-init", "gex-init", "talk", "mpi-finalize")

    def test_libgex_first(self):
        for launcher in ("abi", "gexrun"):
            with self.subTest(launcher):
                self.succeed(launcher, "abi", "gex-init", "talk")
                self.succeed(launcher, "abi", "gex-init", "mpi-init", "talk", "gex-exit", found=RANKS)

    def test_another_than_the_programs(self):
        self.refuse(r"mpi: GEX_MPI=mpich, but the program has loaded MPI's standard binary interface "
                    r"\(libmpi_abi\S*\), and a process can have but one MPI$", "gexrun", "abi",
                    "gex-init", GEX_MPI="mpich")


class WrongMpi(Case):
    def test_another_than_the_programs(self):
        for mpi, other, title in (("openmpi", "mpich", "Open MPI"), ("mpich", "openmpi", "MPICH")):
            with self.subTest(mpi):
                self.refuse(rf"mpi: GEX_MPI={other}, but the program has loaded {title} "
                            r"\(libmpi\S*\), and a process can have but one MPI$", mpi, mpi, "gex-init",
                            GEX_MPI=other)

    def test_another_than_the_launchers(self):
        self.refuse(r"mpi: MPICH has a world of 1 processes, the job one of 3: ", "openmpi", "mpich",
                    "gex-init")
        self.refuse(r"mpi: processes of Open MPI find one another by its launcher only: ", "mpich",
                    "openmpi", "gex-init")

    def test_a_name_that_no_mpi_has(self):
        self.refuse(r"mpi: GEX_MPI=ompi: expected one of abi, openmpi, mpich$", "gexrun", "mpich",
                    "gex-init", GEX_MPI="ompi")


class Info(unittest.TestCase):
    """Why mpi was chosen, or was not."""

    def pairs(self, *options, **variables):
        done = run([GEXRUN, "-n", "2", *options, GEXINFO, "--pairs", "--json"], **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_named(self):
        if not CLIENTS["mpich"]:
            self.skipTest("MPICH is not installed")
        facts = self.pairs("--conduit", "mpi", GEX_MPI="mpich")
        self.assertEqual(facts["job"]["conduit"], {"name": "mpi", "reason": "GEX_CONDUIT"})
        only, = facts["pairs"]
        self.assertEqual((only["network"], only["why_no_memory"]),
                         ("mpi", "GASNET_SUPERNODE_MAXSIZE=1"))
        self.assertEqual((only["operations"]["put"], only["operations"]["active_messages"]),
                         ("native", "native"))

    def test_not_named(self):
        facts = self.pairs(GEX_CONDUIT="")
        only, = facts["pairs"]
        self.assertNotEqual(only["network"], "mpi")
        instead = {one["name"]: one["reason"] for one in only["instead"]}
        self.assertEqual(instead["mpi"], "chosen by its name only")


if __name__ == "__main__":
    unittest.main(verbosity=2)
