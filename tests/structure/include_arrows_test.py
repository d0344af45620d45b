#!/usr/bin/env python3
"""include_arrows.py accepts a tree that keeps the arrows and catches each seeded violation."""

import unittest

from seeded_tree import SeededTree

GOOD = {
    "include/gasnetex.h": "#include <gex/types.h>\n",
    "include/gex/types.h": "#include <stdint.h>\n",
    "src/base/error.h": "#include <gex/types.h>\n",
    "src/base/error.cc": '#include "base/error.h"\n',
    "src/tools/env.h": '#include "base/error.h"\n',
    "include/gex/plugin/conduit.h": "#include <stdint.h>\n",
    "src/net/registry.h": '#include "base/error.h"\n#include <gex/plugin/conduit.h>\n',
    "src/net/kit/pool.h": '#include "base/error.h"\n#include <gex/plugin/conduit.h>\n',
    "src/net/emu/emu.cc": '#include "net/kit/pool.h"\n#include "emu.h"\n',
    "src/net/emu/emu.h": "",
    "src/core/endpoint.h": '#include "net/registry.h"\n',
    "src/observe/trace.h": '#include "core/endpoint.h"\n',
    "src/way/pairs.h": '#include "core/endpoint.h"\n',
    "src/team/team.h": '#include "core/endpoint.h"\n#include "observe/trace.h"\n',
    "src/vis/vis.h": '#include "team/team.h"\n',
    "src/coll/coll.h": '#include "team/team.h"\n',
    "src/legacy/gasnet1.h": '#include "coll/coll.h"\n',
    "src/api/put.cc": '#include "legacy/gasnet1.h"\n#include "vis/vis.h"\n#include <gasnetex.h>\n',
    "src/api/env.cc": '#include "tools/env.h"\n',
    "apps/ft/ft.cc": '#include <gasnetex.h>\n#include "grid.h"\n',
    "apps/ft/grid.h": "",
    "examples/conduit/null.cc": "#include <gex/plugin/conduit.h>\n",
}


class IncludeArrows(SeededTree):
    script = "include_arrows.py"
    good = GOOD

    def test_accepts_a_tree_that_keeps_the_arrows(self):
        self.assert_accepted({})

    def test_upward(self):
        self.assert_caught({"src/base/error.cc": '#include "core/endpoint.h"\n'},
                           "src/base/error.cc -> src/core/endpoint.h: base may not include core")

    def test_upward_in_angle_brackets(self):
        self.assert_caught({"src/base/error.cc": "#include <core/endpoint.h>\n"},
                           "base may not include core")

    def test_upward_through_a_header(self):
        self.assert_caught(
            {"include/gex/types.h": '#include "../../src/core/endpoint.h"\n'},
            "include/gex/types.h -> src/core/endpoint.h: include/ may include only what is installed")

    def test_sideways(self):
        self.assert_caught({"src/vis/vis.h": '#include "coll/coll.h"\n'}, "vis may not include coll")

    def test_observe_and_way_are_beside_each_other_above_core(self):
        for room, header in [("way", "observe/trace.h"), ("observe", "way/pairs.h"),
                             ("core", "observe/trace.h"), ("core", "way/pairs.h")]:
            self.assert_caught({f"src/{room}/another.cc": f'#include "{header}"\n'},
                               f"{room} may not include {header.split('/')[0]}")

    def test_legacy_may_not_include_api(self):
        self.assert_caught({"src/api/check.h": "", "src/legacy/gasnet1.h": '#include "api/check.h"\n'},
                           "legacy may not include api")

    def test_tools_include_base_alone(self):
        self.assert_caught({"src/job/job.h": "", "src/tools/env.h": '#include "job/job.h"\n'},
                           "tools may not include job")

    def test_the_launcher_stands_aside(self):
        launcher = {"src/job/protocol.h": "", "src/launch/local/guardian.h":
                    '#include "job/protocol.h"\n#include "launch/hosts/uplink.h"\n',
                    "src/launch/hosts/uplink.h": '#include "launch/coordinator.h"\n',
                    "src/launch/coordinator.h": ""}
        self.assert_accepted({**launcher, "src/api/put.cc": '#include "launch/local/guardian.h"\n'})
        for path in ["src/job/job.cc", "src/core/endpoint.h"]:
            self.assert_caught({**launcher, path: '#include "launch/coordinator.h"\n'},
                               f"{path.split('/')[1]} may not include launch")
        self.assert_caught({**launcher, "src/launch/coordinator.h": '#include "net/registry.h"\n'},
                           "launch may not include net")

    def test_launch_includes_of_job_the_frames(self):
        self.assert_caught({"src/job/job.h": "", "src/launch/local/guardian.cc":
                            '#include "job/job.h"\n'},
                           "launch may include of job only its frames, not job")

    def test_folders_of_the_launcher(self):
        self.assert_caught({"src/launch/local/guardian.h": "", "src/launch/hosts/root.cc":
                            '#include "launch/local/guardian.h"\n'},
                           "launch/hosts may not include launch/local")
        self.assert_caught({"src/launch/local/guardian.h": "", "src/launch/coordinator.h":
                            '#include "launch/local/guardian.h"\n'},
                           "launch may not include launch/local")
        self.assert_caught({"src/launch/remote/a.h": "", "src/launch/local/guardian.h":
                            '#include "launch/remote/a.h"\n'},
                           "launch/remote is no folder of the launcher")

    def test_api_alone_includes_tools(self):
        for path in ["src/base/error.cc", "src/core/endpoint.h", "src/legacy/gasnet1.h"]:
            self.assert_caught({path: '#include "tools/env.h"\n'},
                               f"{path.split('/')[1]} may not include tools")

    def test_a_conduit_by_name(self):
        self.assert_caught({"src/core/endpoint.h": '#include "net/emu/emu.h"\n'},
                           "only net/ may include the conduit emu")

    def test_a_conduit_by_name_through_a_header(self):
        self.assert_caught({"src/net/registry.h": '#include "net/emu/emu.h"\n'},
                           "only net/ may include the conduit emu")

    def test_conduits_may_not_include_one_another(self):
        self.assert_caught({"src/net/ofi/ofi.cc": '#include "net/emu/emu.h"\n'},
                           "the conduits ofi and emu may not include one another")

    def test_the_kit_may_not_include_a_conduit(self):
        self.assert_caught({"src/net/kit/pool.h": '#include "net/emu/emu.h"\n'},
                           "the conduits kit and emu may not include one another")

    def test_the_kit_is_for_conduits_alone(self):
        self.assert_caught({"src/core/endpoint.h": '#include "net/kit/pool.h"\n'},
                           "only net/ may include the conduit kit")

    def test_classes_of_memory(self):
        classes = {"src/kinds/device_class.h": '#include "core/endpoint.h"\n',
                   "src/kinds/kinds.cc": '#include "kinds/cuda/class.h"\n',
                   "src/kinds/cuda/class.h": '#include "kinds/device_class.h"\n',
                   "src/kinds/cuda/driver.h": "",
                   "src/kinds/hip/class.cc": '#include "kinds/hip/device.h"\n',
                   "src/kinds/hip/device.h": ""}
        self.assert_accepted(classes)
        self.assert_caught({**classes, "src/kinds/hip/device.h": '#include "kinds/cuda/driver.h"\n'},
                           "the classes hip and cuda may not include one another")
        for path in ["src/api/put.cc", "src/core/endpoint.h"]:
            self.assert_caught({**classes, path: '#include "kinds/cuda/driver.h"\n'},
                               "only kinds/ may include the class cuda")

    def test_client_of_internals(self):
        self.assert_caught({"apps/ft/ft.cc": '#include "base/error.h"\n'},
                           "apps/ may include only what is installed")

    def test_example_conduit_of_internals(self):
        self.assert_caught({"examples/conduit/null.cc": '#include "net/emu/emu.h"\n'},
                           "examples/ may include only what is installed")

    def test_source_file(self):
        self.assert_caught({"src/api/put.cc": '#include "base/error.cc"\n'},
                           "src/api/put.cc: includes the source file src/base/error.cc")

    def test_missing_file(self):
        self.assert_caught({"src/api/put.cc": '#include "base/errors.h"\n'},
                           '"base/errors.h" is not found')

    def test_unknown_room(self):
        self.assert_caught({"src/misc/util.h": '#include "base/error.h"\n'},
                           "src/misc is no room of the house")

    def test_cycle(self):
        self.assert_caught({"src/base/a.h": '#include "base/b.h"\n',
                            "src/base/b.h": '#include "base/a.h"\n'},
                           "include cycle: src/base/a.h -> src/base/b.h -> src/base/a.h")

    def test_concepts_in_a_circle(self):
        self.assert_caught({"src/base/env.h": "", "src/base/env.cc": '#include "base/error.h"\n',
                            "src/base/error.cc": '#include "base/env.h"\n'},
                           "src/base: concepts in a circle: src/base/env.cc includes "
                           "src/base/error.h, src/base/error.cc includes src/base/env.h")

    def test_concepts_in_a_circle_of_three(self):
        self.assert_caught({"src/vis/vis.cc": '#include "vis/route.h"\n',
                            "src/vis/route.h": "", "src/vis/route.cc": '#include "vis/shape.h"\n',
                            "src/vis/shape.h": "", "src/vis/shape.cc": '#include "vis/vis.h"\n'},
                           "src/vis: concepts in a circle: src/vis/route.cc includes "
                           "src/vis/shape.h, src/vis/shape.cc includes src/vis/vis.h, "
                           "src/vis/vis.cc includes src/vis/route.h")

    def test_concepts_of_a_conduit_in_a_circle(self):
        self.assert_caught({"src/net/emu/ports.h": "", "src/net/emu/ports.cc": '#include "emu.h"\n',
                            "src/net/emu/emu.cc": '#include "ports.h"\n'},
                           "src/net/emu: concepts in a circle")

    def test_each_circle_is_reported(self):
        circles = {"src/vis/a.h": "", "src/vis/a.cc": '#include "vis/b.h"\n',
                   "src/vis/b.h": '#include "vis/a.h"\n',
                   "src/team/c.h": "", "src/team/c.cc": '#include "team/d.h"\n',
                   "src/team/d.h": '#include "team/c.h"\n'}
        self.assert_caught(circles, "src/vis: concepts in a circle: src/vis/a.cc")
        self.assert_caught(circles, "src/team: concepts in a circle: src/team/c.cc")

    def test_a_header_and_its_source_are_one_concept(self):
        self.assert_accepted({"src/base/env.h": "", "src/base/env.cc": '#include "base/env.h"\n',
                              "src/base/error.cc": '#include "base/env.h"\n'})

    def test_declaration_of_a_type_of_an_upper_room(self):
        self.assert_caught(
            {"src/team/team.h": "namespace gex { class alignas(64) Team final : Base { }; }\n",
             "src/core/endpoint.h": "namespace gex {\nclass Team;  // team/team.h\n}\n"},
            "src/core/endpoint.h: declares gex::Team of src/team/team.h: core may not include team")

    def test_declaration_of_a_type_of_an_upper_room_in_a_source(self):
        self.assert_caught(
            {"src/vis/vis.h": "namespace gex::vis { enum class Way : int { copy }; }\n",
             "src/core/endpoint.cc": "namespace gex { namespace vis { enum class Way : int; } }\n"},
            "src/core/endpoint.cc: declares gex::vis::Way of src/vis/vis.h: core may not include vis")

    def test_declaration_of_an_upper_type_in_passing(self):
        for use in ["void start(struct Team* team);", "struct Endpoint { friend class Team; };",
                    "namespace gex::core { class Endpoint { struct Team* team; }; }"]:
            self.assert_caught({"src/team/team.h": "struct Team { int size; };\n",
                                "src/core/endpoint.h": use + "\n"},
                               "src/core/endpoint.h: declares Team of src/team/team.h")

    def test_declaration_of_a_type_beside(self):
        self.assert_caught({"src/coll/coll.h": "struct Plan { };\n",
                            "src/vis/vis.h": "struct Plan;\n"},
                           "src/vis/vis.h: declares Plan of src/coll/coll.h: vis may not include coll")

    def test_declarations_of_own_and_lower_types(self):
        self.assert_accepted(
            {"src/team/team.h": "namespace gex { struct Team { class Part; }; struct Flag; }\n",
             "src/team/team.cc": "namespace gex { class Team::Part { }; }\n",
             "src/core/endpoint.h": "namespace gex { struct Flag { }; }\n"})

    def test_types_of_one_name_in_two_namespaces(self):
        self.assert_accepted(
            {"src/core/endpoint.h": "namespace gex { struct Link; }\n",
             "src/core/endpoint.cc": "namespace gex { struct Link { }; }\n",
             "src/team/team.h": "namespace gex::team { struct Link { }; }\n",
             "src/team/team.cc": "namespace gex { namespace { struct Link { }; } }\n",
             "src/base/error.cc": "namespace gex { namespace { struct Link; } }\n"})

    def test_a_declaration_in_a_comment_or_string_is_ignored(self):
        self.assert_accepted(
            {"src/team/team.h": "class Team { };\n",
             "src/core/endpoint.h": "// class Team;\n/* class Team; */\n",
             "src/core/endpoint.cc": 'auto text = "class Team;";\n'})

    def test_a_file_of_two_concepts(self):
        self.assert_accepted({"src/base/error.cc": "\n" * 600})
        self.assert_caught({"src/base/error.cc": "\n" * 601},
                           "src/base/error.cc: 601 lines are two concepts (limit 600)")

    def test_a_program_of_two_concepts(self):
        self.assert_accepted({"cmd/gexrun/main.cc": "\n" * 600, "tests/unit/a_test.cc": "\n" * 601})
        self.assert_caught({"cmd/gexrun/main.cc": "\n" * 601},
                           "cmd/gexrun/main.cc: 601 lines are two concepts (limit 600)")

    def test_a_commented_include_is_ignored(self):
        self.assert_accepted({"src/base/error.cc": '// x\n/*\n#include "core/endpoint.h"\n*/\n'})

    def test_an_empty_tree_is_refused(self):
        result = self.check_tree({})
        self.assertEqual(result.returncode, 1)
        self.assertIn("no sources below src/", result.stderr)


if __name__ == "__main__":
    unittest.main()
