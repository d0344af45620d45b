#!/usr/bin/env python3
"""environment.py accepts a tree that reads its table and catches each seeded violation."""

import unittest

from seeded_tree import SeededTree

GOOD = {
    "src/base/env.cc": "const char* set = std::getenv(name); char** entry = environ;\n",
    "src/base/env_grammar.cc": "",
    "src/base/environment.def": '// GEX_ENV(identifier, "NAME")\nGEX_ENV(quiet, "GASNET_QUIET", boolean)\n',
    "src/base/quiet.cc": "return env::boolean(env::Variable::quiet);\n",
    "src/net/emu/environment.def": 'GEX_ENV(emu_queue,\n        "GEX_EMU_QUEUE", integer)\n',
    "src/net/emu/emu.cc": 'host.env_integer("GEX_EMU_QUEUE");\n',
    "src/launch/environment.def": 'GEX_ENV(bind, "GEX_BIND", text)\n',
    "src/launch/agents/task_shell.cc": 'std::getenv("HOME");\n',
    "src/launch/local/execution.cc": 'std::getenv("PATH");\n',
    "src/launch/map/allocation.cc": "std::getenv(variable);\n",
    "src/launch/local/binding.cc": "env::text(env::Variable::bind);\n",
    "src/api/gasnet1_core.cc": "char* gasnet_getenv(const char* name) {\n"
                               "  return std::getenv(name);\n}\n",
    "src/tools/env.cc": "char* gasnett_getenv_withdefault(const char* key, const char* other) {\n"
                            "  return std::getenv(key);\n}\n",
    "src/job/place.cc": 'std::getenv("PMI_FD"); std::getenv(variable);\n',
    "src/job/pmi2.cc": 'std::getenv("PMI_JOBID");\n',
    "src/job/pmi_wire.cc": "std::getenv(variable);\n",
    "src/net/ofi/default_variable.h": "std::getenv(name);\n",
    "src/net/ofi/ofi.cc": "std::getenv(port_variable);\n",
    "src/net/ucx/context.cc": 'std::getenv("UCX_TCP_PORT_RANGE");\n',
    "src/net/ucx/ucx.cc": "std::getenv(ucx_name);\n",
    "src/net/mpi/mpi.cc": "std::getenv(sign.variable);\n",
    "src/net/mpi/library/session.cc": 'std::getenv(size_variable); std::getenv("PMIX_NAMESPACE");\n',
    "src/job/process_manager.cc": 'std::getenv("PMIX_NAMESPACE"); std::getenv("PMI_FD");\n'
                                   "std::getenv(sign.variable);\n",
    "src/launch/agents/launch_agents.cc": "for (char** at = environ; *at; ++at) {}\n",
}


class Environment(SeededTree):
    script = "environment.py"
    good = GOOD

    def test_accepts_a_tree_that_reads_its_table(self):
        self.assert_accepted({})

    def test_a_variable_of_our_own(self):
        self.assert_caught({"src/base/os_memory.cc": '\nauto* t = std::getenv("TMPDIR");\n'},
                           "src/base/os_memory.cc:2: getenv: ")

    def test_in_a_header(self):
        self.assert_caught({"src/net/ofi/ofi.h": 'getenv ("FI_PROVIDER")\n'},
                           "src/net/ofi/ofi.h:1: getenv: ")

    def test_behind_another_in_the_same_statement(self):
        self.assert_caught({"src/job/pmi2.cc": 'f(std::getenv("PMI_ID"), std::getenv("HOME"));\n'},
                           "src/job/pmi2.cc:1: getenv: ")

    def test_behind_a_string_that_looks_like_a_comment(self):
        self.assert_caught({"src/job/a.cc": 'f("http://x"); getenv("HOME");\n'},
                           "src/job/a.cc:1: getenv: ")

    def test_all_of_the_environment_under_its_other_name(self):
        self.assert_caught({"src/job/a.cc": "for (char** at = __environ; *at; ++at) {}\n"},
                           "src/job/a.cc:1: environ: ")

    def test_by_another_way_of_the_c_library(self):
        self.assert_caught({"src/net/ofi/ofi.cc": 'secure_getenv("FI_PROVIDER")\n'},
                           "src/net/ofi/ofi.cc:1: secure_getenv: ")
        self.assert_caught({"src/net/ofi/ofi.cc": "extern char** environ;\n"},
                           "src/net/ofi/ofi.cc:1: environ: ")

    def test_by_the_interface_for_clients(self):
        self.assert_caught(
            {"src/tools/system.cc": "gasnett_getenv_yesno_withdefault(variable.c_str(), 1);\n"},
            "src/tools/system.cc:1: gasnett_getenv_yesno_withdefault: ")

    def test_of_another_name_where_some_may_be_read(self):
        self.assert_caught({"src/job/pmi2.cc": 'std::getenv("PMI_JOBID");\ngetenv("HOME");\n'},
                           "src/job/pmi2.cc:2: getenv: ")
        self.assert_caught({"src/tools/env.cc": 'std::getenv(key);\nstd::getenv("GASNET_X");\n'},
                           "src/tools/env.cc:2: getenv: ")

    def test_an_exception_that_is_not_needed(self):
        self.assert_caught({"src/job/pmi2.cc": ""},
                           "src/job/pmi2.cc: reads no environment any more")

    def test_a_comment_is_no_read(self):
        self.assert_accepted({"src/base/error.cc": '// getenv("X")\n/*\ngetenv("X") environ\n*/\n',
                              "src/base/os_file.cc": "setenv(name, value, 1); environment();\n"})

    def test_a_row_of_a_variable_that_is_read_elsewhere(self):
        self.assert_caught({"src/launch/environment.def": 'GEX_ENV(quiet, "GASNET_QUIET", boolean)\n'},
                           "src/launch/environment.def: GASNET_QUIET is not read in this folder")
        self.assert_caught({"cmd/gexrun/environment.def": 'GEX_ENV(bind, "GEX_BIND", text)\n'},
                           "cmd/gexrun/environment.def: GEX_BIND is not read in this folder")

    def test_a_row_of_a_variable_that_is_read_no_more(self):
        self.assert_caught({"src/launch/local/binding.cc": "env::text(env::Variable::binding);\n"},
                           "src/launch/environment.def: GEX_BIND is not read in this folder")
        self.assert_caught({"src/net/emu/emu.cc": '// "GEX_EMU_QUEUE"\n'},
                           "src/net/emu/environment.def: GEX_EMU_QUEUE is not read in this folder")

    def test_an_empty_tree_is_refused(self):
        result = self.check_tree({})
        self.assertEqual(result.returncode, 1)
        self.assertIn("no sources below src/", result.stderr)


if __name__ == "__main__":
    unittest.main()
