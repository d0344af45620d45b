// Jobs in which one message of the library's own is changed on its way: whatever comes of that, no
// rank does what it must not, and what is refused is said in a line.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>

#include "../../unit/temporary_folder.h"
#include "../launch/command.h"

namespace {

using launch_test::Command;
using launch_test::Outcome;

struct Case {
  const char* kind;
  const char* tests;  ///< of the conformance suite, which send such messages
  bool checked = false;
};
constexpr const char* collectives = "Broadcast*:Reductions*:Collectives*";
constexpr Case cases[] = {
    {"rma_put", "Rma*"},
    {"rma_get", "Rma*"},
    {"atomic", "Atomic*"},
    {"vis_put", "Vis*"},
    {"vis_get", "Vis*"},
    {"exchange_gather", "Team*:Split*"},
    {"exchange_spread", "Team*:Split*"},
    {"barrier", "Team*:Barrier*"},
    {"named_barrier", "NamedBarrier*"},
    {"coll_data", collectives},
    {"coll_grant", collectives},
    {"coll_credit", collectives},
    {"coll_announce", collectives, true},
    {"coll_agreed", collectives, true},
};

class Fuzz : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Job, Fuzz, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.kind); });

TEST_P(Fuzz, AChangedMessageIsRefusedOrTaken) {
  // More of them look for more.
  const char* const wanted = std::getenv("FUZZ_TEST_SEEDS");
  const int seeds = wanted != nullptr ? std::atoi(wanted) : 4;
  const std::regex refusal(R"((^|\n)gex: rank \d+: .*rank \d+)");
  int changed = 0;
  int refused = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const TemporaryFolder folder;
    const std::string log = folder.path() + "/log";
    // Who waits for what never comes, since it says that it is something else, is ended.
    Command command({FUZZ_TEST_GEXRUN, "-n", "3", "--timeout", FUZZ_TEST_LIMIT, FUZZ_TEST_PROGRAM,
                     std::string("--gtest_filter=") + GetParam().tests});
    command.variable("GEX_CONDUIT", FUZZ_TEST_CONDUIT)
        .variable("FUZZ_UNDER", FUZZ_TEST_TCP)
        .variable("FUZZ_KIND", GetParam().kind)
        .variable("FUZZ_RANK", std::to_string(seed % 3))
        .variable("FUZZ_SEED", std::to_string(seed))
        .variable("FUZZ_LOG", log)
        .variable("GASNET_SUPERNODE_MAXSIZE", "1");
    if (GetParam().checked) command.variable("GEX_CHECK", "1");
    const Outcome outcome = command.run();
    std::string line;
    std::ifstream lines(log);
    while (std::getline(lines, line)) ++changed;
    EXPECT_FALSE(outcome.hung) << "seed " << seed;
    EXPECT_TRUE(outcome.left_behind.empty()) << "seed " << seed;
    // 1: refused, or the suite has seen that its data are others.
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 1 || outcome.status == 124)
        << "seed " << seed << ": status " << outcome.status << '\n'
        << outcome.error;
    EXPECT_EQ(launch_test::lines_with(outcome.error, "Sanitizer"), 0) << outcome.error;
    if (std::regex_search(outcome.error, refusal)) ++refused;
  }
  EXPECT_GT(changed, 0) << "no such message was sent";
  std::printf("%s: %d changed, %d jobs of %d refused it\n", GetParam().kind, changed, refused,
              seeds);
}

}  // namespace
