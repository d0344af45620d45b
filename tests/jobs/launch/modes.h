#pragma once
// The ways of starting a job; most tests run in all of them. The two hosts of a job, which get
// ranks in blocks or cyclically, are both this one, which rsh_here.sh reaches.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "command.h"

namespace launch_test {

/// Paths of the programs under test.
inline const std::string gexrun = LAUNCH_TEST_GEXRUN;
inline const std::string probe = LAUNCH_TEST_PROBE;

inline const std::string rsh_here = LAUNCH_TEST_RSH;

enum class Mode { gexrun, fork, hosts, hosts_in_turn };

inline std::string name_of(const testing::TestParamInfo<Mode>& info) {
  static constexpr std::array names = {"gexrun", "fork", "hosts", "hosts_in_turn"};
  return names.at(static_cast<std::size_t>(info.param));
}

inline bool on_hosts(Mode mode) {
  return mode == Mode::hosts || mode == Mode::hosts_in_turn;
}

/// The probe as a job of `ranks`.
inline Command job(Mode mode, int ranks, std::vector<std::string> scenario) {
  scenario.insert(scenario.begin(), probe);
  if (mode == Mode::fork) {
    return Command(std::move(scenario)).variable("GASNET_PSHM_NODES", std::to_string(ranks));
  }
  if (on_hosts(mode)) {
    const std::string hosts =
        "one:" + std::to_string((ranks + 1) / 2) + ",two:" + std::to_string(ranks);
    const std::string map = mode == Mode::hosts ? "block" : "cyclic";
    scenario.insert(scenario.begin(), {"--rsh", rsh_here, "--hosts", hosts, "--map", map});
  }
  scenario.insert(scenario.begin(), {gexrun, "-n", std::to_string(ranks)});
  return Command(std::move(scenario));
}

/// The prefix of the launcher's messages.
inline std::string message_prefix(Mode mode) {
  return mode == Mode::fork ? "gex: " : "gexrun: ";
}

/// The requirements for every outcome.
inline void expect_clean(const Outcome& outcome) {
  EXPECT_FALSE(outcome.hung) << outcome.output << outcome.error;
  EXPECT_EQ(outcome.left_behind, std::vector<std::string>());
}

inline void expect_success(const Outcome& outcome) {
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.error;
  EXPECT_EQ(outcome.error, "");
}

/// Expects the exit status, and one line of output, which contains `message`; "": no line.
inline void expect_failure(const Outcome& outcome, int status, const std::string& message) {
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, status) << outcome.output << outcome.error;
  if (message.empty()) {
    EXPECT_EQ(outcome.error, "");
  } else {
    EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, message), 1) << outcome.error << "wanted: " << message;
  }
}

class AllModes : public testing::TestWithParam<Mode> {
 protected:
  Command job(int ranks, std::vector<std::string> scenario) const {
    return launch_test::job(GetParam(), ranks, std::move(scenario));
  }
  std::string message_prefix() const { return launch_test::message_prefix(GetParam()); }
};

#define LAUNCH_TEST_IN_ALL_MODES(fixture)                                          \
  INSTANTIATE_TEST_SUITE_P(                                                        \
      Job, fixture,                                                                \
      testing::Values(launch_test::Mode::gexrun, launch_test::Mode::fork,          \
                      launch_test::Mode::hosts, launch_test::Mode::hosts_in_turn), \
      launch_test::name_of)

}  // namespace launch_test
