// The binding of ranks: equal shares of the processors, unless the user binds.
//
// Other jobs bind ranks too and would interfere, so this program runs in a network namespace of its
// own, which isolates claims (launch/local/core_claims.h).

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "modes.h"

namespace launch_test {
namespace {

/// Jobs on hosts connect through the loopback.
bool start_loopback() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  const bool done = socket >= 0 && ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  if (socket >= 0) close(socket);
  return done;
}

/// The reason for which the tests cannot be isolated; "" if they are.
std::string why_not_alone;

class OwnNetwork : public testing::Environment {
 public:
  void SetUp() override {
    // Users other than root need a user namespace, in which they keep their id.
    if (unshare(CLONE_NEWNET) != 0 && !enter_as_user()) {
      why_not_alone = std::strerror(errno);
    } else if (!start_loopback()) {
      why_not_alone = std::string("the loopback: ") + std::strerror(errno);
    }
  }

 private:
  static bool write_file(const char* path, const std::string& text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    return written;
  }
  static bool enter_as_user() {
    const std::string user = std::to_string(geteuid());
    const std::string group = std::to_string(getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
           write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", user + " " + user + " 1") &&
           write_file("/proc/self/gid_map", group + " " + group + " 1");
  }
};
[[maybe_unused]] const auto* const own_network = testing::AddGlobalTestEnvironment(new OwnNetwork);

using Processors = std::set<int>;

/// The processors that this program, and so an unbound rank, may run on.
Processors all_processors() {
  cpu_set_t set;
  Processors found;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set)) found.insert(processor);
  return found;
}

/// The processors of each rank, by the output of the probe's `processors`.
std::map<int, Processors> by_rank(const std::string& output) {
  std::map<int, Processors> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int rank = -1;
    int processor = -1;
    std::string on;
    words >> rank >> on;
    EXPECT_EQ(on, "on") << line;
    while (words >> processor) found[rank].insert(processor);
  }
  return found;
}

void expect_unbound(const std::string& output, int ranks) {
  const auto found = by_rank(output);
  EXPECT_EQ(found.size(), static_cast<std::size_t>(ranks));
  for (const auto& [rank, processors] : found)
    EXPECT_EQ(processors, all_processors()) << "rank " << rank;
}

/// Returns true if two ranks have equal, disjoint shares, of more than one processor if there are
/// enough.
bool are_shares(const std::string& output) {
  auto found = by_rank(output);
  Processors both = found[0];
  both.insert(found[1].begin(), found[1].end());
  const std::size_t all = all_processors().size();
  return found.size() == 2 && !found[0].empty() && found[0].size() == found[1].size() &&
         both.size() == 2 * found[0].size() && (found[0].size() > 1 || all < 4);
}

class Binding : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_not_alone.empty())
      GTEST_SKIP() << "this machine lets us have no network of our own: " << why_not_alone;
    if (all_processors().size() < 2) GTEST_SKIP() << "needs two processors";
    const Outcome outcome = job({"processors"}).variable("GEX_VERBOSE", "1").run();
    if (lines_with(outcome.error, "the launcher is bound to ") != 0)
      GTEST_SKIP() << "this program is bound: " << outcome.error;
  }

  static Command job(std::vector<std::string> scenario, Mode mode = Mode::gexrun) {
    return launch_test::job(mode, 2, std::move(scenario));
  }
  static Command gexrun_with(std::vector<std::string> options, const std::string& scenario) {
    options.insert(options.begin(), gexrun);
    options.insert(options.end(), {probe, scenario});
    return Command(std::move(options));
  }
};

TEST_F(Binding, IsToEqualSharesByDefault) {
  for (const Mode mode : {Mode::gexrun, Mode::fork}) {
    const Outcome outcome = job({"processors"}, mode).run();
    expect_success(outcome);
    EXPECT_TRUE(are_shares(outcome.output)) << outcome.output;
  }
}

TEST_F(Binding, IsReportedOnRequest) {
  const std::string begin = "2 ranks bound to ";
  for (const Mode mode : {Mode::gexrun, Mode::fork}) {
    const Outcome outcome = job({"processors"}, mode).variable("GEX_VERBOSE", "1").run();
    EXPECT_EQ(lines_with(outcome.error, message_prefix(mode) + begin), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, ", rank 1: "), 1) << outcome.error;
  }
  const Outcome outcome = gexrun_with({"-n", "2", "-v"}, "processors").run();
  EXPECT_EQ(lines_with(outcome.error, begin), 1) << outcome.error;
}

TEST_F(Binding, IsLeftOnRequest) {
  Command by_option = gexrun_with({"-n", "2", "--bind", "none"}, "processors");
  Command by_variable = gexrun_with({"-n", "2", "-E", "GEX_BIND=none"}, "processors");
  Command forked = job({"processors"}, Mode::fork);
  forked.variable("GEX_BIND", "none");
  for (Command* const command : {&by_option, &by_variable, &forked}) {
    const Outcome outcome = command->variable("GEX_VERBOSE", "1").run();
    expect_unbound(outcome.output, 2);
    EXPECT_EQ(lines_with(outcome.error, "no rank bound on "), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, ": --bind none or GEX_BIND=none"), 1) << outcome.error;
  }
}

TEST_F(Binding, ByTheOptionGoesBeforeTheVariable) {
  const Outcome outcome =
      gexrun_with({"-n", "2", "--bind", "share"}, "processors").variable("GEX_BIND", "none").run();
  expect_success(outcome);
  EXPECT_TRUE(are_shares(outcome.output)) << outcome.output;
}

TEST_F(Binding, ToAnythingElseIsRefusedInALine) {
  const std::string message = "GEX_BIND='socket' is neither share, core nor none";
  for (const Mode mode : {Mode::gexrun, Mode::fork})
    expect_failure(job({"processors"}, mode).variable("GEX_BIND", "socket").run(), 1, message);
}

TEST_F(Binding, OfTheLauncherIsLeftToTheRanks) {
  const int first = *all_processors().begin();
  for (const Mode mode : {Mode::gexrun, Mode::fork}) {
    const bool forks = mode == Mode::fork;
    std::vector<std::string> words = {"taskset", "-c", std::to_string(first)};
    if (forks)
      words.insert(words.end(), {probe, "processors"});
    else
      words.insert(words.end(), {gexrun, "-n", "2", probe, "processors"});
    Command command(words);
    if (forks) command.variable("GASNET_PSHM_NODES", "2");
    const Outcome outcome = command.variable("GEX_VERBOSE", "1").run();
    for (const auto& [rank, processors] : by_rank(outcome.output))
      EXPECT_EQ(processors, Processors{first}) << "rank " << rank;
    EXPECT_EQ(lines_with(outcome.error, "the launcher is bound to " + std::to_string(first)), 1)
        << outcome.error;
  }
}

TEST_F(Binding, IsLeftToAnotherBinder) {
  const Outcome outcome = Command({gexrun, "-n", "2", "taskset", "-c", "0", probe, "processors"})
                              .variable("GEX_VERBOSE", "1")
                              .run();
  EXPECT_EQ(lines_with(outcome.error, ": taskset binds them"), 1) << outcome.error;
  const Outcome openmp = gexrun_with({"-n", "2"}, "processors")
                             .variable("GOMP_CPU_AFFINITY", "0-1")
                             .variable("GEX_VERBOSE", "1")
                             .run();
  expect_unbound(openmp.output, 2);
  EXPECT_EQ(lines_with(openmp.error, "GOMP_CPU_AFFINITY names processors"), 1) << openmp.error;
}

TEST_F(Binding, IsNotForOneRankNorForMoreThanThereAreProcessors) {
  expect_unbound(gexrun_with({"-n", "1"}, "processors").run().output, 1);
  const auto processors = static_cast<int>(all_processors().size());
  if (processors > 32) return;
  const int ranks = processors + 1;
  const Outcome outcome = gexrun_with({"-n", std::to_string(ranks)}, "processors").run();
  expect_success(outcome);
  expect_unbound(outcome.output, ranks);
}

TEST_F(Binding, IsNotToProcessorsOfAnotherJobUntilItHasEnded) {
  for (const Mode mode : {Mode::gexrun, Mode::fork}) {
    const auto first = job({"processors", "stay"}, mode).start();
    ASSERT_TRUE(first->wait_for(" on ", 2));
    EXPECT_TRUE(are_shares(first->output())) << first->output();
    const Outcome second = job({"processors"}).variable("GEX_VERBOSE", "1").run();
    expect_unbound(second.output, 2);
    EXPECT_EQ(lines_with(second.error, "other ranks are bound to processor "), 1) << second.error;
    kill(first->process(), SIGKILL);
    ASSERT_TRUE(first->wait_until_all_gone());
    const Outcome third = job({"processors"}).run();
    expect_success(third);
    EXPECT_TRUE(are_shares(third.output)) << third.output;
  }
}

TEST_F(Binding, ToACoreKeepsOthersAwayToo) {
  const auto first =
      Command({gexrun, "-n", "1", "--bind", "core", probe, "processors", "stay"}).start();
  ASSERT_TRUE(first->wait_for(" on ", 1));
  expect_unbound(job({"processors"}).run().output, 2);
}

TEST_F(Binding, OfJobsThatStartAtOnceIsOneJobs) {
  std::vector<std::unique_ptr<Running>> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(job({"processors", "stay"}).start());
  int bound = 0;
  for (const auto& one : jobs) {
    ASSERT_TRUE(one->wait_for(" on ", 2));
    if (are_shares(one->output()))
      ++bound;
    else
      expect_unbound(one->output(), 2);
  }
  EXPECT_EQ(bound, 1);
}

TEST_F(Binding, OnHostsThatAreOneMachineIsOneHosts) {
  const Outcome outcome =
      Command({gexrun, "-n", "4", "--rsh", rsh_here, "--hosts", "a:2,b:2", probe, "processors"})
          .variable("GEX_VERBOSE", "1")
          .run();
  EXPECT_EQ(lines_with(outcome.error, "2 ranks bound to "), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "other ranks are bound to processor "), 1) << outcome.error;
  EXPECT_EQ(by_rank(outcome.output).size(), 4u) << outcome.output;
}

}  // namespace
}  // namespace launch_test
