#!/usr/bin/env python3
"""Runs gexinfo, alone and in jobs, and checks what it prints.

    gexinfo_test.py [TestClass...]

The environment names the programs (GEXINFO, GEXRUN), the folder of the conduits that cannot be used
(ODD_CONDUITS), the source tree (SOURCE_TREE) and what reaches any host by this one (RSH), and
a driver of CUDA that tests have (FAKE_CUDA).
"""

import ctypes
import functools
import json
import os
import pathlib
import platform
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

GEXINFO = os.environ["GEXINFO"]
GEXRUN = os.environ["GEXRUN"]
ODD_CONDUITS = os.environ["ODD_CONDUITS"]
FAKE_CUDA = os.environ.get("FAKE_CUDA", "")
SOURCE_TREE = pathlib.Path(os.environ["SOURCE_TREE"])
RSH = os.environ["RSH"]

# What the tests themselves run under must not reach the program.
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("GEX_", "GASNET_")) and k != "TMPDIR"}


def run(*arguments, launch=(), variables=None, **others):
    command = [*launch, GEXINFO, *arguments]
    return subprocess.run(command, env={**CLEAN, **(variables or {})}, text=True, errors="replace",
                          capture_output=True, check=False, **others)


def gexrun(ranks, *options):
    return (GEXRUN, "-n", str(ranks), *options)


def environment_table():
    """Rows (name, type, default, category, help) of the table in the sources, as the generator of
    the documentation reads it."""
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "environment.md"
        subprocess.run([sys.executable, SOURCE_TREE / "tools" / "generate-env-docs", "--document",
                        document], check=True, stdout=subprocess.DEVNULL)
        text = document.read_text().replace("\n  ", " ")
    rows = []
    for part in text.split("\n## ")[1:]:
        category = part.split("\n", 1)[0].lower()
        items = re.findall(r"^- `([\w*]+)` \((\w+)(?:, `(.*?)`)?\) (.*)$", part, re.MULTILINE)
        rows += [(name, kind, default, category, text) for name, kind, default, text in items]
    return rows


def documented_keys(section):
    text = (SOURCE_TREE / "cmd" / "gexinfo" / "README.md").read_text()
    part = text.split(f"## Keys of `{section}`")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE))


def keys_of(value, path=""):
    """The paths of all values that hold no others."""
    if isinstance(value, dict):
        return set().union(*(keys_of(v, f"{path}.{k}".lstrip(".")) for k, v in value.items()))
    if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        return set().union(*(keys_of(v, path + "[]") for v in value))
    return {path}


class Case(unittest.TestCase):
    maxDiff = None

    def succeed(self, *arguments, **others):
        done = run(*arguments, **others)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def facts(self, *arguments, **others):
        return json.loads(self.succeed("--json", *arguments, **others))

    def conduits(self, **others):
        return {conduit["name"]: conduit for conduit in self.facts(**others)["conduits"]}

    def refuse(self, status, line, *arguments, **others):
        done = run(*arguments, **others)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, rf"\A{line}\n\Z")


class Text(Case):
    def test_prints_what_it_must(self):
        text = self.succeed()
        for line in (
            r"libgex \d+\.\d+\.\d+",
            r"  ABI +\d+ \(libgex\.so\.\d+\)",
            r"  specifications +GASNet-EX 0\.19, GASNet 1\.8, GASNet-Tools 1\.20",
            r"  release +2025\.8\.0 .*",
            r"  ranks +1 on 1 host \(.+\), started by itself",
            r"  neighborhoods +1; rank 0's has 1 rank: all processes of the host",
            r"  conduit +smp: all ranks share memory",
            r"  - +emu +chosen by its name only",
            r"  smp +shared memory +chosen +.+",
            r"  emu +built in +shared-memory queues .*",
            r"  active messages +native +native.*",
            r"  put +native +native.*",
            r"  get +native +native.*",
            r"  put, get of pieces +native +native.*",
            r"  flush of puts +absent +native.*",
            r"  atomics +native +native.*",
            r"  registered memory +absent +native.*",
            r"  device memory +absent +absent.*",
            r"  barrier +native +reference.*",
            r"about emu",
            r"  model +no time passes",
            r"  aries +Cray XC, Aries, .*",
            r"  medium +65536 +\d+.*",
            r"  long request +1073741824 +\d+.*",
            r"  long reply +1073741824 +\d+.*",
            r"  arguments +0 to 16",
            r"  handler indices +128 to 255",
            r"  ranks +1048576 in a job",
            r"  endpoints +64 of a client in a process",
            r"  threads +256 of a process .*",
            r"  shared memory file +(memfd|/.+), .*",
            r"  huge pages +.+",
            r"  largest segment +[0-9.]+ [MGT]iB, set by .+",
            r"    GASNET_MAX_SEGSIZE +0\.85/H \(default\): [0-9.]+ .*",
            r"    memory of the host +[0-9.]+ .*",
            r"    control group +.+",
            r"    address space +.+ \(ulimit -v\)",
            r"    file size +.+ \(ulimit -f\)",
            r"  slabs of a process +\d+ of 4 KiB, \d+ of 64 KiB",
            r" +2 ranks +2 +128 +.*",
            r" +16 ranks +30 +128 +.*",
            r" +64 ranks +2 +1024 +.*",
            r" +1024 ranks +2 +1024 +.*",
            r"  cores +\d+ cores? usable by the 1 rank of this host",
            r"    affinity +\d+: [0-9,-]+",
            r"  waiting +spins, .*",
            r"  clock +(tsc|clock_gettime): .+",
        ):
            self.assertRegex(text, f"(?m)^{line}$")

    def test_stays_within_the_width_of_a_page(self):
        for arguments in ((), ("--env",), ("--pairs",), ("--help",)):
            # Only a single long word, the path of a folder, may go beyond it.
            for line in self.succeed(*arguments).splitlines():
                if "/" not in line:
                    self.assertLessEqual(len(line), 100, line)

    def test_works_where_nothing_can_be_written(self):
        text = self.succeed(cwd="/proc", variables={"TMPDIR": "/nonexistent", "HOME": "/nonexistent"})
        self.assertIn("largest segment", text)
        self.assertIn("GASNET_MAX_SEGSIZE", self.succeed("--env", cwd="/proc"))

    def test_help_and_version(self):
        usage = self.succeed("--help")
        self.assertEqual(usage, self.succeed("-h"))
        for option in ("--env", "--json", "--pairs", "--matrix", "--help", "--version"):
            self.assertIn(option, usage)
        version = self.facts()["version"]["libgex"]
        self.assertEqual(self.succeed("--version"), f"gexinfo (libgex) {version}\n")


class Json(Case):
    def test_has_the_documented_keys(self):
        folder = {"GEX_CONDUIT_PATH": ODD_CONDUITS, "GEX_CUDA_LIBRARY": FAKE_CUDA}
        self.assertEqual(keys_of(self.facts(variables=folder)) -
                         {"conduits[].operations", "conduits[].limits", "conduits[].choices",
                          "device_memory[].devices"},
                         documented_keys("--json"))

    def cuda(self, variables):
        only, = [one for one in self.facts(variables=variables)["device_memory"] if one["kind"] == "CUDA"]
        return only

    def test_lists_devices_of_each_class_or_why_it_has_none(self):
        there = {"GEX_CUDA_LIBRARY": FAKE_CUDA, "FAKE_CUDA_DEVICES": "1"}
        device = {"number": 0, "name": "Fake device 0", "bytes": 64 << 20,
                  "shared_by": "descriptor, handle", "dma_buf": True}
        self.assertEqual(self.cuda(there), {"kind": "CUDA", "driver": f"{FAKE_CUDA} of CUDA 13.0",
                                            "reason": None, "devices": [device]})
        self.assertRegex(self.succeed(variables=there), r"(?m)^  CUDA device 0 +Fake device 0, 64 MiB; opened "
                         r"by other processes of the host by:\s+descriptor, handle; dma-buf for networks: yes$")
        without = self.cuda({**there, "FAKE_CUDA_DEVICES": "0"})
        self.assertEqual((without["reason"], without["devices"]), ("the driver has no device", []))
        missing = {"GEX_CUDA_LIBRARY": "no-driver.so"}
        without = self.cuda(missing)
        self.assertEqual((without["driver"], without["devices"]), (None, []))
        self.assertIn("no-driver.so: cannot open", without["reason"])
        self.assertRegex(self.succeed(variables=missing), "(?m)^  CUDA devices +none: no-driver.so: cannot open")

    def test_pairs_have_the_documented_keys(self):
        text = self.succeed("--matrix", "--json", launch=gexrun(2, "--conduit", "emu"),
                            variables={"GASNET_SUPERNODE_MAXSIZE": "1", "GEX_CUDA_LIBRARY": FAKE_CUDA})
        keys = {re.sub(r"^(job|.*\.operations)\..*|\[\]$",
                       lambda match: match[1] + ".*" if match[1] else "", key)
                for key in keys_of(json.loads(text))}
        # No network was passed over, and the rule was not used.
        self.assertEqual(keys - {"pairs[].instead", "rule"},
                         {key for key in documented_keys("--pairs --json")
                          if not key.startswith(("pairs[].instead", "rule"))})

    def test_environment_has_the_documented_keys(self):
        self.assertEqual(keys_of(self.facts("--env")), documented_keys("--env --json"))

    def test_control_memory_is_what_is_laid_out(self):
        memory = self.facts()["memory"]
        control = {one["members"]: one for one in memory["control"]}
        self.assertLessEqual({1, 2, 16, 64, 1024}, set(control))
        slabs = sum(one["bytes"] * one["count"] for one in memory["slabs"])
        for members, one in control.items():
            pairs = members <= 16
            self.assertEqual(one["rings"], 2 * (members - 1) if pairs else 2)
            # A cell is one cache line and has a slot of four.
            self.assertGreaterEqual(one["ring_bytes"], one["rings"] * one["ring_cells"] * 320)
            self.assertLessEqual(one["ring_bytes"], one["rings"] * (one["ring_cells"] * 320 + 2 * 4096))
            self.assertEqual(one["slab_bytes"], slabs)
            # Eight lines of flags; 4 stages of 512 bytes, of teams of several hosts; 8 cells of a
            # cache line and 8 KiB each, and one line more.
            self.assertEqual(one["team_bytes"], 8 * 64 + 4 * 512 + 8 * (64 + 8192) + 64)
            parts = one["ring_bytes"] + slabs
            self.assertGreater(one["process_bytes"], parts)
            self.assertLess(one["process_bytes"], parts + 4 * 4096)
            self.assertGreaterEqual(one["neighborhood_bytes"], members * one["process_bytes"])
        self.assertLessEqual(control[1024]["process_bytes"], 4 << 20)

    def test_this_neighborhood_is_among_the_control_memory(self):
        facts = self.facts(launch=gexrun(3))
        self.assertIn(3, [one["members"] for one in facts["memory"]["control"]])

    def test_any_bytes_in_a_value(self):
        env = {k.encode(): v.encode() for k, v in CLEAN.items()}
        env[b"GEX_CONDUIT_PATH"] = b"/no\xff\x1b[1m\xfe"
        for arguments in (("--json",), ("--env", "--json"), (), ("--env",)):
            done = subprocess.run([GEXINFO, *arguments], env=env, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"/no", done.stdout)
            self.assertNotIn(b"\x1b", done.stdout)
            if "--json" in arguments:
                json.loads(done.stdout)


class Environment(Case):
    SET = {"GASNET_MAX_SEGSIZE": "64MB/P", "GEX_CHECK": "yes", "GEX_EMU_QUEUE": "0x8",
           "GASNET_MAX_THREADS": "  7 ", "GEX_CONDUIT_PATH": ""}

    def test_lists_every_row_of_the_table(self):
        for variables in ({}, self.SET):
            rows = self.facts("--env", variables=variables)
            expected = []
            for name, kind, default, category, text in environment_table():
                given = variables.get(name, "").strip()
                expected.append({"name": name, "value": given or default or None,
                                 "origin": "environment" if given else "default",
                                 "default": default or None, "type": kind, "category": category,
                                 "help": text})
            self.assertEqual(rows, expected)

    def test_text_has_the_same(self):
        lines = self.succeed("--env", variables=self.SET).splitlines()
        self.assertEqual(lines[0].split(), ["name", "value", "origin", "default"])
        rows = [line.split() for line in lines[1:] if not line.startswith(" ")]
        expected = []
        for name, _, default, _, _ in environment_table():
            given = self.SET.get(name, "").strip()
            expected.append([name, given or default or "-",
                             "environment" if given else "default", default or "-"])
        self.assertEqual(rows, expected)
        helps = " ".join(line.strip() for line in lines if line.startswith(" "))
        self.assertEqual(helps, " ".join(row[4] for row in environment_table()))

    def test_a_familys_members_that_are_set_follow_it(self):
        members = {"GASNET_MAXIMIZE_RLIMIT_CPU": "no", "GASNET_MAXIMIZE_RLIMIT_AS": "1"}
        rows = self.facts("--env", variables=members)
        family = next(row for row in rows if row["name"] == "GASNET_MAXIMIZE_*")
        at = rows.index(family)
        self.assertEqual(rows[at + 1:at + 3],
                         [{**family, "name": name, "value": members[name], "origin": "environment"}
                          for name in sorted(members)])
        self.assertEqual(len(rows), len(environment_table()) + 2)
        text = self.succeed("--env", variables=members)
        self.assertRegex(text, r"(?m)^GASNET_MAXIMIZE_RLIMIT_CPU +no +environment +1$")

    def test_an_unknown_variable_is_warned_about_once(self):
        for launch in ((), gexrun(3)):
            for arguments in (("--env",), ()):
                done = run(*arguments, launch=launch, variables={"GEX_CONDIUT": "emu"})
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stderr, r"\Agex: (rank 0: )?warning: GEX_CONDIUT is not a "
                                              r"variable of libgex; did you mean GEX_CONDUIT\?\n\Z")

    def test_the_place_in_a_job_is_shown(self):
        rows = {row["name"]: row for row in self.facts("--env", launch=gexrun(2))}
        self.assertEqual(rows["GEX_JOB"]["origin"], "environment")
        self.assertIn(":0:2:", rows["GEX_JOB"]["value"])


class Conduits(Case):
    def test_the_built_in_ones(self):
        conduits = self.conduits()
        self.assertTrue(conduits["smp"]["chosen"])
        self.assertEqual(conduits["smp"]["kind"], "shared memory")
        self.assertEqual(conduits["emu"]["kind"], "built in")
        self.assertTrue(conduits["emu"]["usable"])
        self.assertGreaterEqual(conduits["emu"]["limits"]["medium"], 512)
        self.assertEqual(conduits["emu"]["limits"]["outstanding"], 16)

    def test_limits_are_those_of_the_settings(self):
        conduits = self.conduits(variables={"GEX_EMU_QUEUE": "5"})
        self.assertEqual(conduits["emu"]["limits"]["outstanding"], 5)

    def test_plug_ins_that_cannot_be_used_are_named_with_the_reason(self):
        folder = self.new_folder()
        (folder / "libgex-junk.so").write_text("no library")
        (folder / "libgex-emu.so").write_text("a name that is taken")
        path = f"/no/such/folder:{folder}:{ODD_CONDUITS}"
        facts = self.facts(variables={"GEX_CONDUIT_PATH": path})
        found = {(one["name"], one["kind"]): one for one in facts["conduits"]}
        refusals = {
            "refuses": r"\Aodd: there is no such network card here; conduit odd cannot be used here\Z",
            "aborts": r"\Ait crashed: Aborted\Z",
            "junk": r"libgex-junk\.so: (file too short|invalid ELF header)",
            "emu": r"\Ahidden by the built-in conduit\Z",
        }
        for name, reason in refusals.items():
            plug_in = found[name, "plug-in"]
            self.assertFalse(plug_in["usable"])
            self.assertRegex(plug_in["refusal"], reason)
            self.assertIsNone(plug_in["operations"])
        prints = found["prints", "plug-in"]
        self.assertTrue(prints["usable"])
        self.assertEqual(prints["description"], "an odd one")
        self.assertEqual(prints["limits"]["message"], 2048)
        self.assertEqual(prints["limits"]["outstanding"], 3)
        self.assertEqual(prints["operations"]["payload_in_place"], "reference")
        self.assertEqual(prints["operations"]["put"], "reference")
        self.assertEqual(found["emu", "built in"]["operations"]["payload_in_place"], "native")
        self.assertEqual(prints["choices"], [])
        self.assertEqual(found["emu", "built in"]["choices"][0],
                         {"name": "model", "text": "no time passes"})
        folders = {one["path"]: one["error"] for one in facts["plug_in_folders"]}
        self.assertEqual(folders["/no/such/folder"], "No such file or directory")
        self.assertIsNone(folders[ODD_CONDUITS])
        self.assertRegex(self.succeed(variables={"GEX_CONDUIT_PATH": path}),
                         r"(?m)^  aborts +plug-in +refused: it crashed: Aborted")

    def test_a_plug_in_that_hangs_is_given_up_on(self):
        conduits = self.conduits(variables={"GEX_CONDUIT_PATH": f"{ODD_CONDUITS}/hanging"})
        self.assertEqual(conduits["hangs"]["refusal"], "it did not start within 10 seconds")

    def test_a_plug_in_named_by_its_file(self):
        file = f"{ODD_CONDUITS}/libgex-prints.so"
        for path in ("", ODD_CONDUITS):
            facts = self.chosen_with_chatter({"GEX_CONDUIT": file, "GEX_CONDUIT_PATH": path})
            chosen = [one for one in facts["conduits"] if one["chosen"]]
            self.assertEqual([one["file"] for one in chosen], [file])
            self.assertEqual(facts["job"]["conduit"], {"name": file, "reason": "GEX_CONDUIT"})

    def new_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def chosen_with_chatter(self, variables):
        """The chosen conduit runs in gexinfo itself, which cannot keep it from printing."""
        text = self.succeed("--json", variables=variables)
        chatter, rest = text.split("\n", 1)
        self.assertEqual(chatter, "odd: chatter on standard output")
        return json.loads(rest)


def forbid_userfaultfd():
    """Before a program: the system call fails as by the default filter of containers."""
    load_number, jump_if_equal, answer = 0x20, 0x15, 0x06
    userfaultfd, allow, errno = 323, 0x7fff0000, 0x00050000
    code = ((load_number, 0, 0, 0), (jump_if_equal, 0, 1, userfaultfd), (answer, 0, 0, errno | 1),
            (answer, 0, 0, allow))
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters))
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    libc = ctypes.CDLL(None)
    libc.prctl(no_new_privileges, 1, 0, 0, 0)
    libc.prctl(set_seccomp, by_filter, program, 0, 0)


class Ofi(Case):
    """The part about libfabric, where libgex was built with it."""

    def choices(self, preexec_fn=None, **variables):
        ofi = self.conduits(variables=variables, preexec_fn=preexec_fn)["ofi"]
        return {choice["name"]: choice["text"] for choice in ofi["choices"]}

    def test_prints_what_it_would_choose_and_why(self):
        choices = self.choices()
        provider, reason = re.match(r"(\S+), interface lo \(127\.0\.0\.1\): (.+)",
                                    choices["on one host"]).groups()
        self.assertIn(provider, choices["providers"].split(", "))
        self.assertRegex(reason, "^the best there is: .+; on the loopback, because all ranks are on ")
        self.assertRegex(choices["memory"],
                         r"at most \d+ KiB a peer and \d+ KiB in all, .*; to receive, \d+ KiB")
        self.assertRegex(choices["registration"], "^segments; ")
        self.assertEqual(choices["kept registered"], "nothing: local memory needs no registration")
        self.assertRegex(choices["pieces"],
                         r"^\d+ of local memory and \d+ of the peer's a put or get, at most$")

    def test_prints_what_is_kept_registered(self):
        choices = self.choices(GEX_OFI_REGISTER_LOCAL="1")
        self.assertRegex(choices["registration"], "^segments and local memory; ")
        self.assertEqual(choices["pieces"], "one a put or get: local memory must be registered")
        self.assertRegex(choices["kept registered"],
                         "^(local memory of GASNET_PAR programs, at most 1024 MiB in |nothing: userfaultfd)")

    @unittest.skipUnless(platform.machine() == "x86_64", "the filter has a number of x86-64's")
    def test_what_a_container_forbids(self):
        kept = self.choices(GEX_OFI_REGISTER_LOCAL="1", preexec_fn=forbid_userfaultfd)["kept registered"]
        self.assertEqual(kept, "nothing: userfaultfd: Operation not permitted (in a container: "
                         "--cap-add SYS_PTRACE)")

    def test_the_provider_is_the_users_to_choose(self):
        for provider in self.choices()["providers"].split(", "):
            chosen = self.choices(GEX_OFI_PROVIDER=provider)["on one host"]
            self.assertRegex(chosen, rf"^{provider}, interface .*: GEX_OFI_PROVIDER$")

    def test_one_host_is_not_open_to_others(self):
        for provider in ("tcp", "udp", "net", "sockets"):
            chosen = self.choices(GEX_OFI_PROVIDER=provider)["on one host"]
            self.assertRegex(chosen, r", interface lo \(127\.0\.0\.1\): ", provider)

    def test_a_provider_that_is_not_there_is_named(self):
        ofi = self.conduits(variables={"GEX_OFI_PROVIDER": "nosuch"})["ofi"]
        self.assertRegex(ofi["refusal"],
                         r"^ofi: GEX_OFI_PROVIDER=nosuch: libfabric [\d.]+ has no provider nosuch "
                         r"\(fi_info -l prints which it has\); conduit ofi cannot be used here$")

    def test_an_interface_that_the_provider_lacks_is_named(self):
        ofi = self.conduits(variables={"GEX_OFI_PROVIDER": "tcp", "GEX_OFI_INTERFACE": "ib7"})["ofi"]
        self.assertRegex(ofi["refusal"],
                         r"^ofi: GEX_OFI_PROVIDER=tcp has no interface ib7 \(GEX_OFI_INTERFACE; it "
                         r"has lo.*\); conduit ofi")

    def test_each_provider_is_found_or_not_with_the_reason(self):
        choices = self.choices()
        usable = choices["providers"].split(", ")
        for provider in ("cxi", "psm2", "opx", "verbs;ofi_rxm", "efa", "psm3", "tcp", "tcp;ofi_rxm",
                         "udp;ofi_rxd", "net", "sockets", "shm"):
            self.assertRegex(choices[provider], "^(found: |not usable: ).")
            self.assertEqual(choices[provider].startswith("found: "), provider in usable)
        # Debian's has it.
        self.assertRegex(choices["psm2"], r"^(found: |not usable: (this machine has no such device in "
                         r"/sys/class/infiniband|.*was built without it)$)")

    def test_a_filter_of_the_users_is_the_reason(self):
        choices = self.choices(FI_PROVIDER="^udp")
        self.assertEqual(choices["udp;ofi_rxd"], "not usable: FI_PROVIDER=^udp leaves it out")

    def test_the_interface_is_the_users_to_choose(self):
        for interface in ("lo", "127.0.0.1"):
            chosen = self.choices(GEX_OFI_INTERFACE=interface)["on several hosts"]
            self.assertRegex(chosen, rf" \(127\.0\.0\.1\): the best there is over {interface}: ")


def lower_memlock():
    """Before a program: 64 KiB of memory can be locked, also by root."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    drop_from_bounding_set, ipc_lock = 24, 14
    ctypes.CDLL(None).prctl(drop_from_bounding_set, ipc_lock, 0, 0, 0)


class Fabrics(Case):
    """The part about networks that are simulated (tests/fabric)."""

    def simulated(self, preset, knobs="", **variables):
        return {"FI_PROVIDER_PATH": os.environ["FABRICS"], "FI_GEXSIM_PRESET": preset,
                "FI_GEXSIM_KNOBS": knobs, **variables}

    def choices(self, *simulated, **others):
        variables = self.simulated(*simulated)
        ofi = self.conduits(variables=variables, **others)["ofi"]
        return {choice["name"]: choice["text"] for choice in ofi["choices"]}

    def test_a_network_that_works_is_chosen(self):
        for preset, interface in (("psm2", "hfi1_0"), ("efa", "rdmap0s0-rdm")):
            choices = self.choices(preset)
            self.assertRegex(choices[preset], rf"^found: {interface}($|;)")
            self.assertRegex(choices["on several hosts"], rf"^{preset}, interface {interface}")

    def test_ranks_take_several_interfaces_in_turn(self):
        choices = self.choices("cxi", "nics=3")
        self.assertRegex(choices["cxi"], "^found: cxi0, cxi1, cxi2; ranks of a host take them in turn")
        pairs = self.facts("--pairs", launch=gexrun(4, "--conduit", "ofi"), variables=self.simulated(
            "cxi", "nics=3", GEX_OFI_PROVIDER="cxi", GASNET_SUPERNODE_MAXSIZE="1"))["pairs"]
        self.assertEqual([(one["way"], one["from"]) for one in pairs],
                         [("cxi/cxi0", [0, 3]), ("cxi/cxi1", [1]), ("cxi/cxi2", [2])])

    def test_one_that_cannot_be_opened_has_the_reason_and_the_next_is_taken(self):
        choices = self.choices("cxi", "domain_needs=SLINGSHOT_VNIS")
        self.assertRegex(choices["cxi"], "^found: cxi0; not usable: cxi0: fi_domain: Function not "
                         "implemented; a job needs a VNI: .*srun --network=single_node_vni")
        self.assertNotIn("cxi", choices["providers"].split(", "))
        self.assertNotRegex(choices["on several hosts"], "^cxi")
        choices = self.choices("cxi", "nics=3,broken_nics=2")
        self.assertRegex(choices["cxi"], "; not usable: cxi0, cxi1: fi_domain: No such device; ")
        self.assertRegex(choices["on several hosts"], "^cxi")

    def test_little_memory_to_register(self):
        limit = r"a process can register no more than 64 KiB of memory \(ulimit -l unlimited\)$"
        choices = self.choices("verbs;ofi_rxm", preexec_fn=lower_memlock)
        self.assertRegex(choices["verbs;ofi_rxm"], rf"^found: mlx5_0; {limit}")

    def test_what_a_provider_lacks(self):
        self.assertRegex(self.choices("cxi", "multi_recv=0")["cxi"],
                         r"^not usable: .* receive buffers for many messages \(FI_MULTI_RECV\)$")
        self.assertEqual(self.choices("cxi", "absent=1")["cxi"],
                         "not usable: this machine has no such device in /sys/class/cxi")


class Jobs(Case):
    def test_over_emu_without_shared_memory(self):
        facts = self.facts(launch=gexrun(3, "--conduit", "emu"),
                           variables={"GASNET_SUPERNODE_MAXSIZE": "1"})
        job = facts["job"]
        self.assertEqual((job["ranks"], job["hosts"], job["neighborhoods"]), (3, 1, 3))
        self.assertEqual(job["neighborhood"], {"size": 1, "reason": "GASNET_SUPERNODE_MAXSIZE=1"})
        self.assertEqual(job["conduit"], {"name": "emu", "reason": "GEX_CONDUIT"})
        self.assertEqual(job["started_by"], "gexrun")
        self.assertEqual([one["name"] for one in facts["conduits"] if one["chosen"]], ["emu"])
        self.assertEqual(facts["machine"]["ranks_on_host"], 3)
        text = self.succeed(launch=gexrun(3, "--conduit", "emu"),
                            variables={"GASNET_SUPERNODE_MAXSIZE": "1"})
        self.assertEqual(text.count("\nmachine\n"), 1)
        self.assertRegex(text, r"(?m)^  conduit +emu: GEX_CONDUIT$")

    def test_forked(self):
        facts = self.facts(variables={"GASNET_PSHM_NODES": "4", "GASNET_SUPERNODE_MAXSIZE": "3",
                                      "GEX_CONDUIT": "emu"})
        self.assertEqual(facts["job"]["started_by"], "GASNET_PSHM_NODES")
        self.assertEqual((facts["job"]["ranks"], facts["job"]["neighborhoods"]), (4, 2))
        self.assertEqual(facts["job"]["neighborhood"]["size"], 3)

    def test_waiting_follows_ranks_and_cores(self):
        cores = len(os.sched_getaffinity(0))
        machine = self.facts(launch=gexrun(cores + 1))["machine"]
        self.assertEqual(machine["waiting"], "yield")
        self.assertEqual(machine["cores_allowed"], sorted(os.sched_getaffinity(0)))
        one = min(os.sched_getaffinity(0))
        machine = self.facts(preexec_fn=lambda: os.sched_setaffinity(0, {one}))["machine"]
        self.assertEqual((machine["cores_allowed"], machine["cores_usable"]), ([one], 1))
        self.assertEqual(machine["waiting"], "spin")

    def test_large_neighborhoods_share_rings(self):
        within = self.facts(launch=gexrun(2))["limits"]["within_host"]
        self.assertEqual((within["outstanding"], within["outstanding_to_all"]), (96, False))
        within = self.facts(launch=gexrun(17))["limits"]["within_host"]
        self.assertEqual((within["outstanding"], within["outstanding_to_all"]), (512, True))

    def test_segment_size_and_its_reason(self):
        memory = self.facts(launch=gexrun(2), variables={"GASNET_MAX_SEGSIZE": "64MB/H"})["memory"]
        self.assertEqual(memory["segment"]["wanted_bytes"], 32 << 20)
        self.assertEqual(memory["segment"]["largest"], 32 << 20)
        self.assertEqual(memory["segment"]["reason"], "GASNET_MAX_SEGSIZE")
        self.assertEqual(memory["segment"]["wanted_origin"], "environment")

        memory = self.facts(launch=gexrun(2), variables={"GASNET_MAX_SEGSIZE": "0.25/H"})["memory"]
        usable = min(memory["physical"], memory["cgroup"] or memory["physical"])
        self.assertAlmostEqual(memory["segment"]["wanted_bytes"], usable / 8, delta=4096)

        limit = 24 << 20
        memory = self.facts(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                  (limit, limit)))["memory"]
        self.assertEqual(memory["file_size"], limit)
        self.assertEqual(memory["segment"]["reason"], "the file size limit (ulimit -f)")
        self.assertLess(memory["segment"]["largest"], limit)

    def test_the_smallest_limit_of_a_neighborhood_holds(self):
        limited = 'case $GEX_JOB in *:1:2:*) ulimit -f 65536;; esac; exec "$0" "$@"'
        segment = self.facts(launch=gexrun(2, "sh", "-c", limited))["memory"]["segment"]
        self.assertEqual(segment["reason"], "the limits of rank 1")
        self.assertLess(segment["largest"], 65536 * 1024)


class Pairs(Case):
    """Which way messages go."""

    APART = {"GASNET_SUPERNODE_MAXSIZE": "1"}

    @staticmethod
    @functools.cache
    def everything():
        """The output of gexinfo alone, which takes a second."""
        return json.loads(run("--json").stdout)

    def pairs(self, *arguments, **others):
        return self.facts("--pairs", *arguments, **others)

    def test_of_one_host(self):
        facts = self.pairs("--matrix", launch=gexrun(2))
        self.assertTrue(facts["is_job"])
        self.assertEqual(facts["job"]["conduit"],
                         {"name": "smp", "reason": "all ranks share memory"})
        only, = facts["pairs"]
        self.assertEqual((only["ranks"], only["network"], only["groups"], only["why_no_memory"]),
                         ("ranks 0,1 among themselves", "shm", [[0, 1]], None))
        self.assertEqual(only["operations"]["put"], "native")
        self.assertEqual(only["limits"]["medium"], 65536)
        self.assertEqual(facts["matrix"], [[-1, 0], [0, -1]])
        text = self.succeed("--pairs", launch=gexrun(2))
        self.assertRegex(text, r"(?m)^A  ranks 0,1 among themselves$\n  transport +shared memory$")
        self.assertNotIn("from each rank", text)

    def test_of_devices(self):
        there = {"GEX_CUDA_LIBRARY": FAKE_CUDA}
        self.assertEqual(self.pairs(launch=gexrun(2), variables=there)["devices"],
                         [{"kind": "CUDA", "way": "ipc descriptor", "reason": None, "from": [0, 1], "to": [0, 1]}])
        text = self.succeed("--pairs", launch=gexrun(2), variables={**there, "GEX_CUDA_SHARE": "off"})
        self.assertRegex(text, r"\nmemory of devices of other ranks\n  messages +from ranks 0,1 to CUDA devices of "
                         r"ranks 0,1: switched off by\s+GEX_CUDA_SHARE\n")
        only, = self.pairs(launch=gexrun(2, "--conduit", "emu"), variables={**there, **self.APART})["devices"]
        self.assertEqual((only["way"], only["reason"]),
                         ("messages", "no shared memory: GASNET_SUPERNODE_MAXSIZE=1; emu does not reach that "
                          "memory by itself"))

    def test_over_emu_without_shared_memory(self):
        launch = gexrun(3, "--conduit", "emu")
        only, = self.pairs(launch=launch, variables=self.APART)["pairs"]
        self.assertEqual((only["kind"], only["network"], only["way"]), ("one_host", "emu", None))
        self.assertEqual(only["why_no_memory"], "GASNET_SUPERNODE_MAXSIZE=1")
        self.assertEqual(only["operations"]["atomics"], "native")
        self.assertEqual(only["operations"]["barrier"], "reference")
        # What the network's settings take away is made of messages.
        only, = self.pairs(launch=launch, variables={**self.APART, "GEX_EMU": "atomics=0"})["pairs"]
        self.assertEqual(only["operations"]["atomics"], "reference")

    def test_of_two_hosts_by_classes(self):
        two_hosts = gexrun(4, "--rsh", RSH, "--hosts", "a:2,b:2")
        done = run("--matrix", launch=two_hosts)
        if done.returncode != 0:
            # A build in which no network joins hosts.
            self.assertIn("and no network reaches them (", done.stderr)
            return
        within, between = self.facts("--pairs", launch=two_hosts)["pairs"]
        self.assertEqual((within["ranks"], within["groups"]),
                         ("ranks of one neighborhood (0,1 | 2,3)", [[0, 1], [2, 3]]))
        self.assertEqual(between["ranks"], "ranks of different hosts (0,1 | 2,3)")
        self.assertEqual(between["why_no_memory"], "the ranks are on different hosts")
        rows = re.findall(r"(?m)^ +\d  ([.AB]+)$", done.stdout)
        self.assertEqual(rows, [".ABB", "A.BB", "BB.A", "BBA."])

    def test_alone(self):
        facts = self.pairs()
        self.assertFalse(facts["is_job"])
        self.assertEqual(facts["pairs"][0]["ranks"], "ranks of one host")
        rule = {one["name"]: one for one in facts["rule"]}
        self.assertEqual(rule["emu"], {"name": "emu", "place": None,
                                       "reason": "chosen by its name only"})
        best = [one["name"] for one in facts["rule"] if one["place"] == 1]
        between = [one["network"] for one in facts["pairs"] if one["kind"] == "hosts"]
        self.assertEqual(between, best)
        self.assertEqual(self.everything()["rule"], facts["rule"])
        # emu joins the processes of one machine only.
        named = self.pairs(variables={"GEX_CONDUIT": "emu"})
        self.assertEqual([one["kind"] for one in named["pairs"]], ["memory"])

    def test_a_network_that_refuses_is_passed_over(self):
        """One that would be chosen, and turns out to be of no use when it is attached to."""
        rule = self.everything()["rule"]
        kinds = {one["name"]: one["kind"] for one in self.everything()["conduits"]}
        plug_ins = [one["name"] for one in rule if one["place"] and kinds[one["name"]] == "plug-in"]
        if not plug_ins:
            return
        with tempfile.TemporaryDirectory() as folder:
            for name in plug_ins:
                os.symlink(f"{ODD_CONDUITS}/libgex-refuses.so", f"{folder}/libgex-{name}.so")
            variables = {**self.APART, "GEX_CONDUIT_PATH": folder, "GEX_VERBOSE": "1"}
            done = run("--pairs", "--json", launch=gexrun(2), variables=variables)
        for name in plug_ins:
            self.assertEqual(done.stderr.count(f"gex: rank 0: network {name} is not used: odd: there "
                                               "is no such network card here\n"), 1, done.stderr)
        others = [one["name"] for one in rule if one["place"] and one["name"] not in plug_ins]
        if others:
            self.assertEqual(done.returncode, 0, done.stderr)
            only, = json.loads(done.stdout)["pairs"]
            self.assertEqual(only["network"], others[0])
            self.assertEqual([one["name"] for one in only["instead"]][:len(plug_ins)], plug_ins)
        else:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"(?m)^gex: rank 0: 1 of 2 processes are outside this one's "
                             r"memory \(GASNET_SUPERNODE_MAXSIZE=1\), and no network reaches them \(")


class Ucx(Case):
    """Why ucx is chosen or not."""

    def rule(self, **variables):
        found = {one["name"]: one for one in self.facts("--pairs", variables=variables)["rule"]}
        return found["ucx"]

    def test_its_place_and_what_it_would_use(self):
        ucx = self.rule()
        self.assertIsInstance(ucx["place"], int)
        self.assertRegex(ucx["reason"], r"^(a network interface|processors) .*UCX over \w+/\w+")

    def test_what_its_atomic_operations_are(self):
        choices = {one["name"]: one["text"] for one in self.conduits()["ucx"]["choices"]}
        self.assertEqual(choices["atomics"], "by UCX, for domains all of whose operations it has: ADD, "
                         "SUB, INC, DEC, SET, CAS, GET of integers, SET, CAS, GET of floating point, "
                         "also fetching")

    def test_without_a_way_to_other_hosts(self):
        ucx = self.rule(GEX_UCX_TRANSPORTS="posix,self")
        self.assertIsNone(ucx["place"])
        self.assertIn("UCX finds no transport to other hosts among ", ucx["reason"])

    def test_an_older_ucx(self):
        old = {"LD_PRELOAD": os.environ["OLD_UCX"]}
        reason = "UCX 1.12.1 is older than 1.13, the oldest that libgex works with"
        ucx = self.rule(**old)
        self.assertIsNone(ucx["place"])
        self.assertIn(reason, ucx["reason"])
        done = run("--pairs", launch=gexrun(2, "--conduit", "ucx"),
                   variables={**old, "GASNET_SUPERNODE_MAXSIZE": "1"})
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count(reason), 1, done.stderr)


class Mistakes(Case):
    def test_command_line(self):
        self.refuse(2, r"gexinfo: unknown option --all \(gexinfo --help\)", "--all")
        self.refuse(2, r"gexinfo: unknown option -x \(gexinfo --help\)", "-x")
        self.refuse(2, r"gexinfo: unknown option --env=1 \(gexinfo --help\)", "--env=1")
        self.refuse(2, r"gexinfo: --env and --pairs print different things \(gexinfo --help\)",
                    "--env", "--matrix")
        self.refuse(2, r"gexinfo: unexpected argument 'emu' \(gexinfo --help\)", "--json", "emu")

    def test_a_malformed_value(self):
        for arguments in ((), ("--json",), ("--env",)):
            for launch in ((), gexrun(3)):
                for name, value in (("GASNET_MAX_SEGSIZE", "12apples"), ("GEX_CHECK", "perhaps"),
                                    ("GEX_EXIT_TIMEOUT", "soon")):
                    if launch and name == "GEX_EXIT_TIMEOUT":
                        continue  # gexrun itself reads and refuses it
                    self.refuse(1, rf"gex: (rank 0: )?{name}='{value}' is not understood: .*",
                                *arguments, launch=launch, variables={name: value})

    def test_what_no_job_could_have(self):
        self.refuse(1, r"gex: (rank 0: )?conduit 'ether' not found; available: smp, emu.*",
                    variables={"GEX_CONDUIT": "ether"})
        self.refuse(1, r"gex: rank 0: GASNET_SUPERNODE_MAXSIZE=-2: expected .*",
                    variables={"GASNET_SUPERNODE_MAXSIZE": "-2"})
        self.refuse(1, r"gex: GASNET_PSHM_NODES='0' is not a number of ranks .*",
                    variables={"GASNET_PSHM_NODES": "0"})

    def test_output_that_cannot_be_written(self):
        for arguments in ((), ("--json",), ("--env",), ("--help",), ("--version",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([GEXINFO, *arguments], env=CLEAN, stdout=full, text=True,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr,
                             "gexinfo: cannot write standard output: No space left on device\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
