// What docs/emu.md promises of a seed: two jobs of one make the same choices.

#include <cstdio>
#include <set>
#include <sstream>

#include "../../unit/temporary_folder.h"
#include "lifecycle.h"

namespace lifecycle_test {
namespace {

/// Two ranks with nothing between them but emu under a seed.
Outcome job_of_seed(const std::string& seed, const std::string& scenario,
                    const std::string& argument) {
  return Command({gexrun, "-n", "2", LIFECYCLE_TEST_SEED_PROBE, scenario, argument})
      .variable("GEX_CONDUIT", "emu")
      .variable("GASNET_SUPERNODE_MAXSIZE", "1")
      .variable("GEX_EMU_SEED", seed)
      .run();
}

/// What jobs of three seeds say is the same in each job of one seed, and differs between seeds.
/// Returns it by seed.
std::vector<std::string> expect_choices_of_seeds(const std::string& scenario,
                                                 const std::string& line, int lines) {
  const auto job_of = [&](const std::string& seed) {
    // By files there the ranks tell each other to go on.
    const TemporaryFolder folder;
    return job_of_seed(seed, scenario, folder.path() + '/');
  };
  std::vector<std::string> by_seed;
  for (const char* seed : {"1", "2", "3"}) {
    SCOPED_TRACE(scenario + ", seed " + seed);
    const Outcome first = job_of(seed);
    expect_success(first, line, lines);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(job_of(seed).output, first.output);
    by_seed.push_back(first.output);
  }
  EXPECT_EQ(std::set<std::string>(by_seed.begin(), by_seed.end()).size(), 3u);
  return by_seed;
}

TEST(Seed, JobsOfOneSeedDeliverMessagesInTheSameOrder) {
  expect_choices_of_seeds("delivery_order", "order ", 1);
}

TEST(Seed, JobsOfOneSeedCarryTransfersOutAndCompleteThemInTheSameOrder) {
  int early = 0;
  for (const std::string& said : expect_choices_of_seeds("transfer_order", "put ", 16)) {
    EXPECT_EQ(lines_with(said, "get "), 16);
    EXPECT_EQ(lines_with(said, "atomic "), 16);
    EXPECT_EQ(lines_with(said, "found "), 1);
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
      int number = 0;
      int reusable = 0;
      int complete = 0;
      if (std::sscanf(line.c_str(), "put %d: %d %d", &number, &reusable, &complete) != 3) continue;
      EXPECT_LE(reusable, complete) << line;
      if (reusable < complete) ++early;
    }
  }
  EXPECT_GT(early, 0) << "no put was reusable before it was complete";
}

}  // namespace
}  // namespace lifecycle_test
