// Whichever process is killed or interrupted, the job ends and no process or file is left.

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "modes.h"
#include "own_files.h"

namespace launch_test {
namespace {

/// The process ids that the ranks have printed.
std::vector<pid_t> ranks_of(const Running& running) {
  std::vector<pid_t> found;
  std::istringstream lines(running.output());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("ready ")) found.push_back(std::stoi(line.substr(6)));
  }
  return found;
}

std::string first_word_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      std::istringstream words(line.substr(key.size()));
      std::string word;
      words >> word;
      return word;
    }
  }
  return {};
}

pid_t parent_of(pid_t process) {
  const std::string parent =
      first_word_after("/proc/" + std::to_string(process) + "/status", "PPid:");
  return parent.empty() ? -1 : std::stoi(parent);
}

/// Expectations for a job whose launcher was killed.
void expect_all_gone(Running& running) {
  EXPECT_TRUE(running.wait_until_all_gone());
  EXPECT_EQ(files_left_behind(), std::vector<std::string>());
}

class Kill : public AllModes {
 protected:
  /// Starts a job whose ranks wait to be ended, and waits until all do.
  std::unique_ptr<Running> start(int ranks, std::vector<std::string> scenario) {
    auto running = job(ranks, std::move(scenario)).start();
    EXPECT_TRUE(running->wait_for("ready", ranks)) << running->output();
    return running;
  }
};
LAUNCH_TEST_IN_ALL_MODES(Kill);

/// Hosts that start one another: gexrun starts a and e; a starts b and d, b starts c; e starts f
/// and h, f starts g.
class KillInTree : public testing::Test {
 protected:
  KillInTree()
      : running_(Command({gexrun, "--rsh", rsh_here, "--hosts", "a,b,c,d,e,f,g,h", "-n", "8", probe,
                          "stay"})
                     .variable("GEX_LAUNCH_FANOUT", "2")
                     .start()) {
    EXPECT_TRUE(running_->wait_for("ready", 8)) << running_->output();
  }

  /// A rank that is reached through two other hosts, its guardian, and so on up to a child of
  /// gexrun.
  std::vector<pid_t> deepest() const {
    std::vector<pid_t> found;
    for (const pid_t rank : ranks_of(*running_)) {
      std::vector<pid_t> line;
      for (pid_t at = rank; at > 1 && at != running_->process(); at = parent_of(at))
        line.push_back(at);
      if (line.size() > found.size()) found = std::move(line);
    }
    EXPECT_EQ(found.size(), 5u);
    found.resize(5);
    return found;
  }

  std::unique_ptr<Running> running_;
};

TEST_F(KillInTree, ARank) {
  kill(deepest()[0], SIGKILL);
  expect_failure(running_->finish(), 137, "was killed by signal 9 (Killed)");
}

TEST_F(KillInTree, AnAgentThatStartsHosts) {
  kill(deepest()[3], SIGKILL);
  const Outcome outcome = running_->finish();
  expect_failure(outcome, 1, " is lost: the connection to it has ended");
  EXPECT_EQ(
      lines_with(outcome.error, "host b (rank 1)") + lines_with(outcome.error, "host f (rank 5)"),
      1)
      << outcome.error;
}

TEST_F(KillInTree, AnAgentThroughWhichOtherAgentsAreReached) {
  kill(deepest()[4], SIGKILL);
  const Outcome outcome = running_->finish();
  expect_failure(outcome, 1, " is lost: the connection to it has ended");
  EXPECT_EQ(
      lines_with(outcome.error, "host a (rank 0)") + lines_with(outcome.error, "host e (rank 4)"),
      1)
      << outcome.error;
}

TEST_F(KillInTree, AGuardianThatIsReachedThroughOthers) {
  const std::vector<pid_t> line = deepest();
  std::ifstream variables("/proc/" + std::to_string(line[0]) + "/environ");
  std::string rank;
  while (std::getline(variables, rank, '\0') && !rank.starts_with("GEX_RANK=")) {
  }
  ASSERT_EQ(rank.size(), sizeof "GEX_RANK=");
  kill(line[1], SIGKILL);
  const Outcome outcome = running_->finish();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 1);
  const std::string lost = std::string("gexrun: host ") +
                           static_cast<char>('a' + rank.back() - '0') + " (rank " + rank.back() +
                           ") is lost: the connection to it has ended";
  EXPECT_EQ(lines_with(outcome.error, lost), 1) << outcome.error;
}

TEST_F(KillInTree, TheLauncher) {
  kill(running_->process(), SIGKILL);
  expect_all_gone(*running_);
}

TEST_F(KillInTree, InterruptsReachAll) {
  kill(running_->process(), SIGINT);
  expect_failure(running_->finish(), 130, "gexrun: ended by signal 2 (Interrupt)");
}

TEST_P(Kill, ARank) {
  for (const char* const scenario : {"stay", "hold", "stay-with-daemon"}) {
    const auto running = start(3, {scenario});
    kill(ranks_of(*running).front(), SIGKILL);
    expect_failure(running->finish(), 137, "was killed by signal 9 (Killed)");
  }
}

TEST_P(Kill, TheLauncher) {
  for (const char* const scenario : {"hold", "stay-with-daemon"}) {
    const auto running = start(3, {scenario});
    EXPECT_GE(processes_marked(running->mark()).size(), 5u);
    kill(running->process(), SIGKILL);
    expect_all_gone(*running);
  }
}

TEST_P(Kill, TheLauncherBeforeTheRanksHaveJoined) {
  // The moment differs from run to run.
  for (int delay = 0; delay < 10; ++delay) {
    const auto running = job(8, {"hold"}).start();
    usleep(static_cast<useconds_t>(delay * 700));
    kill(running->process(), SIGKILL);
    expect_all_gone(*running);
  }
}

TEST_P(Kill, TheGuardian) {
  for (const char* const scenario : {"hold", "stay-with-daemon"}) {
    const auto running = start(3, {scenario});
    const pid_t guardian = parent_of(ranks_of(*running).front());
    ASSERT_GT(guardian, 1);
    const std::string killed = "the guardian (pid " + std::to_string(guardian) +
                               ") was killed by signal 9 (Killed); the job is ended";
    if (!on_hosts(GetParam())) {
      ASSERT_EQ(parent_of(guardian), running->process());
    }
    kill(guardian, SIGKILL);
    const Outcome outcome = running->finish();
    if (!on_hosts(GetParam())) {
      expect_failure(outcome, 1, killed);
      continue;
    }
    // The launcher on the host reports the cause, and the root the loss of the host.
    expect_clean(outcome);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(lines_with(outcome.error, killed), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, " is lost: the connection to it has ended"), 1)
        << outcome.error;
  }
}

TEST_P(Kill, LauncherAndGuardian) {
  const auto running = start(3, {"hold"});
  const pid_t guardian = parent_of(ranks_of(*running).front());
  kill(running->process(), SIGSTOP);
  kill(guardian, SIGKILL);
  kill(running->process(), SIGKILL);
  expect_all_gone(*running);
}

// A shell ignores SIGINT in background commands of a script.
TEST_P(Kill, ByAnInterruptThatWasIgnoredAtTheStart) {
  signal(SIGINT, SIG_IGN);
  const auto running = start(2, {"stay"});
  signal(SIGINT, SIG_DFL);
  kill(running->process(), SIGINT);
  expect_failure(running->finish(), 130, message_prefix() + "ended by signal 2");
}

TEST_P(Kill, ByAnInterruptWhileTheGuardianIsStopped) {
  if (on_hosts(GetParam())) return;
  const auto running = start(2, {"hold"});
  const pid_t guardian = parent_of(ranks_of(*running).front());
  ASSERT_EQ(parent_of(guardian), running->process());
  kill(guardian, SIGSTOP);
  kill(running->process(), SIGINT);
  expect_failure(running->finish(), 130,
                 message_prefix() + "ended by signal 2 (Interrupt); the guardian (pid " +
                     std::to_string(guardian) + ") is stopped, and is killed with its ranks");
}

// nohup ignores SIGHUP.
TEST_P(Kill, NotByASignalThatWasIgnoredAtTheStart) {
  signal(SIGHUP, SIG_IGN);
  const auto running = start(2, {"stay"});
  signal(SIGHUP, SIG_DFL);
  kill(running->process(), SIGHUP);
  kill(running->process(), SIGTERM);
  expect_failure(running->finish(), 143, "ended by signal 15");
}

TEST_P(Kill, AnInterruptEndsTheJob) {
  for (const auto& [signal, status] : {std::pair(SIGINT, 130), {SIGTERM, 143}, {SIGHUP, 129}}) {
    const auto running = start(3, {"stay"});
    kill(running->process(), signal);
    expect_failure(running->finish(), status,
                   message_prefix() + "ended by signal " + std::to_string(signal));
  }
}

TEST_P(Kill, AnInterruptLetsRanksTidyUpTogether) {
  const auto running = start(3, {"tidy-up-on-interrupt"});
  kill(running->process(), SIGINT);
  const Outcome outcome = running->finish();
  expect_failure(outcome, 130, "ended by signal 2 (Interrupt)");
  EXPECT_EQ(lines_with(outcome.output, "tidied up"), 3);
}

// Like `pkill -s`, or a service manager that signals a control group.
TEST_P(Kill, AnInterruptOfAllProcessesIsOne) {
  const auto running = start(3, {"tidy-up-on-interrupt"});
  for (const pid_t process : processes_marked(running->mark())) kill(process, SIGINT);
  const Outcome outcome = running->finish();
  expect_failure(outcome, 130, "ended by signal 2 (Interrupt)");
  EXPECT_EQ(lines_with(outcome.output, "tidied up"), 3);
}

// The ranks' statuses after an interrupt are not reported.
TEST_P(Kill, AnInterruptIsAllThatIsReportedOfRanksThatEndForIt) {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"130"}, {"130", "at once"}, {"0", "at once"}}) {
    std::vector<std::string> scenario{"tidy-up-on-interrupt"};
    scenario.insert(scenario.end(), how.begin(), how.end());
    const auto running = start(3, scenario);
    kill(running->process(), SIGINT);
    expect_failure(running->finish(), 130, "ended by signal 2 (Interrupt)");
  }
}

TEST_P(Kill, ASecondInterruptKills) {
  const auto running = start(3, {"hold"});
  kill(running->process(), SIGINT);
  usleep(300'000);
  EXPECT_GE(processes_marked(running->mark()).size(), 5u);
  kill(running->process(), SIGINT);
  expect_failure(running->finish(), 130, "ended by signal 2 (Interrupt)");
}

TEST_P(Kill, RanksThatIgnoreAnInterruptAreKilledInTheEnd) {
  const auto running = start(2, {"hold"});
  kill(running->process(), SIGTERM);
  expect_failure(running->finish(), 143, "ended by signal 15 (Terminated)");
}

TEST_P(Kill, OtherSignalsArePassedOn) {
  const auto running = start(3, {"receive-signals"});
  for (const int signal : {SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM, SIGXCPU, SIGABRT}) {
    kill(running->process(), signal);
    const std::string line = signal < 10 ? "received 0" : "received ";
    EXPECT_TRUE(running->wait_for(line + std::to_string(signal), 3)) << running->output();
  }
  kill(running->process(), SIGINT);
  expect_failure(running->finish(), 130, "ended by signal 2 (Interrupt)");
}

TEST_P(Kill, StoppingAndContinuingHoldsForTheRanks) {
  const auto running = start(2, {"receive-signals"});
  const auto state_of = [](pid_t process) {
    return first_word_after("/proc/" + std::to_string(process) + "/status", "State:");
  };
  const auto wait_for_states = [&](const std::string& wanted) {
    for (int i = 0; i < 10'000; ++i) {
      bool all = state_of(running->process()) == wanted;
      for (const pid_t rank : ranks_of(*running)) all = all && state_of(rank) == wanted;
      if (all) return true;
      usleep(1000);
    }
    return false;
  };
  kill(running->process(), SIGTSTP);
  EXPECT_TRUE(wait_for_states("T"));
  kill(running->process(), SIGCONT);
  EXPECT_TRUE(wait_for_states("S"));
  kill(running->process(), SIGINT);
  expect_failure(running->finish(), 130, "ended by signal 2 (Interrupt)");
}

TEST(KillUnderGexrun, AProgramThatForksAndIgnoresSignals) {
  const auto running =
      Command(
          {gexrun, "-n", "2", "sh", "-c",
           "trap '' INT TERM; sleep 600 & (trap '' TERM; setsid sleep 600 &) ; echo ready; wait"})
          .start();
  ASSERT_TRUE(running->wait_for("ready", 2));
  kill(running->process(), SIGINT);
  usleep(300'000);
  kill(running->process(), SIGINT);
  expect_failure(running->finish(), 130, "ended by signal 2 (Interrupt)");
}

TEST(KillUnderGexrun, TheProgramUnderAWrapper) {
  const auto running = Command({gexrun, "-n", "2", "sh", "-c", probe + " stay; exit $?"}).start();
  ASSERT_TRUE(running->wait_for("ready", 2));
  kill(ranks_of(*running).front(), SIGKILL);
  const Outcome outcome = running->finish();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 137);
  // The shell prints a line too.
  EXPECT_EQ(lines_with(outcome.error, "ended with status 137 without leaving the job"), 1)
      << outcome.error;
}

TEST(KillUnderGexrun, TheProgramUnderAWrapperThatDoesNotCare) {
  const auto running = Command({gexrun, "-n", "2", "sh", "-c", probe + " stay; sleep 600"}).start();
  ASSERT_TRUE(running->wait_for("ready", 2));
  kill(ranks_of(*running).front(), SIGKILL);
  const Outcome outcome = running->finish();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(
      lines_with(outcome.error,
                 "has ended without leaving the job; the program that started it is still running"),
      1)
      << outcome.error;
}

}  // namespace
}  // namespace launch_test
