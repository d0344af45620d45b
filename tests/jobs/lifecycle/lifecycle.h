#pragma once
// Jobs of the lifecycle probe, by each network and each way of starting.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../launch/command.h"

namespace lifecycle_test {

using launch_test::Command;
using launch_test::lines_with;
using launch_test::Outcome;

inline const std::string gexrun = LIFECYCLE_TEST_GEXRUN;
inline const std::string probe = LIFECYCLE_TEST_PROBE;

/// How ranks reach one another.
enum class Network { shared_memory, emu, emu_reordered, neighborhoods, ofi };
inline std::string name_of(const testing::TestParamInfo<Network>& info) {
  switch (info.param) {
    case Network::shared_memory:
      return "shared_memory";
    case Network::emu:
      return "emu";
    case Network::emu_reordered:
      return "emu_reordered";
    case Network::neighborhoods:
      return "neighborhoods";
    case Network::ofi:
      return "ofi";
  }
  return "";
}

/// The networks that this build has.
inline std::vector<Network> networks() {
  std::vector<Network> all = {Network::shared_memory, Network::emu, Network::emu_reordered,
                              Network::neighborhoods};
#ifdef LIFECYCLE_TEST_OFI
  all.push_back(Network::ofi);
#endif
  return all;
}

inline Command& over(Command& command, Network network) {
  if (network == Network::shared_memory) return command.variable("GEX_CONDUIT", "smp");
  command.variable("GEX_CONDUIT", network == Network::ofi ? "ofi" : "emu")
      .variable("GASNET_SUPERNODE_MAXSIZE", network == Network::neighborhoods ? "2" : "1");
  if (network == Network::emu_reordered || network == Network::neighborhoods)
    command.variable("GEX_EMU_SEED", "5");
  return command;
}

/// The probe on `ranks`, started by gexrun.
inline Command job(int ranks, std::vector<std::string> scenario) {
  scenario.insert(scenario.begin(), {gexrun, "-n", std::to_string(ranks), probe});
  return Command(std::move(scenario));
}
/// As above, but started by itself.
inline Command forked_job(int ranks, std::vector<std::string> scenario) {
  scenario.insert(scenario.begin(), probe);
  Command command(std::move(scenario));
  command.variable("GASNET_PSHM_NODES", std::to_string(ranks));
  return command;
}

/// A command of a shell, with the job's words behind it.
inline Command shell(const std::string& text) {
  return Command({"sh", "-c", text});
}

inline void expect_nothing_left(const Outcome& outcome) {
  EXPECT_FALSE(outcome.hung) << outcome.output << outcome.error;
  EXPECT_EQ(outcome.left_behind, std::vector<std::string>());
}

/// Success in silence, with `count` lines of output that contain `line`.
inline void expect_success(const Outcome& outcome, const std::string& line, int count) {
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(lines_with(outcome.output, line), count) << outcome.output;
}

/// Ended with `status`; one line was printed for the whole job, and it has `cause`.
inline void expect_refusal(const Outcome& outcome, int status, const std::string& cause) {
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, status) << outcome.output << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, cause), 1) << outcome.error << "wanted: " << cause;
  EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
}

class OverEveryNetwork : public testing::TestWithParam<Network> {
 protected:
  Outcome run(int ranks, std::vector<std::string> scenario) const {
    Command command = job(ranks, std::move(scenario));
    return over(command, GetParam()).run();
  }
};

#define LIFECYCLE_TEST_OVER_EVERY_NETWORK(fixture)                                      \
  INSTANTIATE_TEST_SUITE_P(Job, fixture, testing::ValuesIn(lifecycle_test::networks()), \
                           lifecycle_test::name_of)

}  // namespace lifecycle_test
