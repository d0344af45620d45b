// Jobs of foreign launchers: MPICH's (PMI-1 and PMI-2), Open MPI's (PMIx) and Slurm's (all of
// them), with a Slurm on this machine that the tests start. Launchers that are not installed, or
// cannot be started, are skipped.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "modes.h"

namespace launch_test {
namespace {

struct Launcher {
  const char* name;
  const char* path;  ///< "" if it is not installed
  std::vector<std::string> options;
  const char* mpi_program;                ///< "" if there is none for this launcher
  std::vector<std::string> in_turn = {};  ///< places ranks on ha and hb in turn; empty: not tried
  bool needs_slurm = false;
  const char* pmi = "1";  ///< GEX_PMI
};

const Launcher launchers[] = {
    {"mpich",
     LAUNCH_TEST_MPICH,
     {},
     LAUNCH_TEST_MPICH_PROBE,
     {"-launcher", "ssh", "-launcher-exec", LAUNCH_TEST_RSH_NAMED, "-hosts", "ha,hb"}},
    {"mpich_pmi2",
     LAUNCH_TEST_MPICH,
     {},
     "",
     {"-launcher", "ssh", "-launcher-exec", LAUNCH_TEST_RSH_NAMED, "-hosts", "ha,hb"},
     false,
     "2"},
    {"openmpi",
     LAUNCH_TEST_OPENMPI,
     {"--allow-run-as-root", "--oversubscribe"},
     LAUNCH_TEST_OPENMPI_PROBE,
     {"--mca", "plm", "rsh", "--mca", "plm_rsh_agent", LAUNCH_TEST_RSH_NAMED, "--host", "ha:4,hb:4",
      "--map-by", "node"}},
    // Slurm does not respond to a second initialization of PMI-1 in a process: use MPICH with PMIx
    // only.
    {"slurm_pmi", LAUNCH_TEST_SRUN, {"--quiet", "--mpi=pmi2", "--overcommit"}, "", {}, true},
    {"slurm_pmi2", LAUNCH_TEST_SRUN, {"--quiet", "--mpi=pmi2", "--overcommit"}, "", {}, true, "2"},
    {"slurm_pmix",
     LAUNCH_TEST_SRUN,
     {"--quiet", "--mpi=pmix", "--overcommit"},
     LAUNCH_TEST_OPENMPI_PROBE,
     {},
     true},
};

/// A Slurm on this machine, from its first use to the end of the tests.
class Slurm {
 public:
  Slurm() {
    char folder[] = "/tmp/gex_slurm.XXXXXX";
    if (mkdtemp(folder) == nullptr) return;
    folder_ = folder;
    int words[2], end[2];
    if (pipe2(words, O_CLOEXEC) != 0 || pipe2(end, O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(end[0], STDIN_FILENO);
      dup2(words[1], STDOUT_FILENO);
      execl(LAUNCH_TEST_SLURM, LAUNCH_TEST_SLURM, folder, nullptr);
      _exit(127);
    }
    close(words[1]);
    close(end[0]);
    end_ = end[1];
    char word[5];
    ready_ = read(words[0], word, sizeof word) == sizeof word;
    close(words[0]);
    if (ready_) setenv("SLURM_CONF", (folder_ + "/slurm.conf").c_str(), 1);
  }
  ~Slurm() {
    close(end_);
    waitpid(process_, nullptr, 0);
  }
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  bool ready() const noexcept { return ready_; }

 private:
  std::string folder_;
  pid_t process_ = -1;
  int end_ = -1;  ///< it ends when this is closed
  bool ready_ = false;
};

bool slurm_is_ready() {
  static const Slurm slurm;
  return slurm.ready();
}

class Foreign : public testing::TestWithParam<Launcher> {
 protected:
  void SetUp() override {
    if (*GetParam().path == '\0') GTEST_SKIP() << GetParam().name << " is not installed";
    if (GetParam().needs_slurm && !slurm_is_ready()) GTEST_SKIP() << "Slurm cannot be started here";
  }

  Command start(int ranks, std::vector<std::string> words) const {
    const Launcher& launcher = GetParam();
    std::vector<std::string> command = {launcher.path, "-n", std::to_string(ranks)};
    command.insert(command.end(), launcher.options.begin(), launcher.options.end());
    command.insert(command.end(), words.begin(), words.end());
    return Command(std::move(command))
        .variable("GEX_PMI", launcher.pmi)
        .variable("GEX_EXIT_GRACE", "0.05");
  }
  Command job(int ranks, std::vector<std::string> scenario) const {
    scenario.insert(scenario.begin(), probe);
    return start(ranks, std::move(scenario));
  }
  /// A job on hosts of two ranks each, or on two hosts that get ranks cyclically.
  Command job_on_hosts(int ranks, std::vector<std::string> scenario,
                       const char* layout = "block") const {
    scenario.insert(scenario.begin(), {LAUNCH_TEST_NAMED_HOSTS, layout, probe});
    return start(ranks, std::move(scenario));
  }

  /// Runs the command. srun has a helper process, which may end after it.
  static Outcome run(Command command) {
    const auto running = command.start();
    if (GetParam().needs_slurm) {
      EXPECT_TRUE(running->wait_until_all_gone());
    }
    return running->finish();
  }

  /// Expects every other rank on host 1, by the lines that they have printed.
  static void expect_hosts_in_turn(const Outcome& outcome, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(lines_with(outcome.output, "rank " + std::to_string(rank) + " of " +
                                               std::to_string(ranks) + " foreign on host " +
                                               std::to_string(rank % 2)),
                1)
          << outcome.output;
    }
  }

  /// The launcher's own messages about a failure are not checked.
  static void expect_one_line_of_ours(const Outcome& outcome, const std::string& message) {
    EXPECT_FALSE(outcome.hung);
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(lines_with(outcome.error, "gex: "), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, message), 1) << outcome.error << "wanted: " << message;
  }
};
INSTANTIATE_TEST_SUITE_P(Launcher, Foreign, testing::ValuesIn(launchers),
                         [](const auto& info) { return info.param.name; });

TEST_P(Foreign, RanksAreOneJob) {
  for (const int ranks : {1, 3, 8}) {
    const Outcome outcome = run(job(ranks, {"exchange"}));
    expect_success(outcome);
    EXPECT_EQ(lines_with(outcome.output, "exchanged "), ranks);
  }
}

TEST_P(Foreign, RanksShareDescriptors) {
  const Outcome outcome = run(job(5, {"share"}));
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "shared"), 5);
}

TEST_P(Foreign, RanksFindTheirHosts) {
  const Outcome outcome = run(job_on_hosts(5, {"who"}));
  expect_success(outcome);
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(lines_with(outcome.output, "rank " + std::to_string(rank) + " of 5 foreign on host " +
                                             std::to_string(rank / 2)),
              1)
        << outcome.output;
  }
}

TEST_P(Foreign, HostsExchangeThroughTheRootThatRank0Starts) {
  const Outcome outcome = run(job_on_hosts(6, {"exchange", "300000"}));
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 6);
}

TEST_P(Foreign, RanksOfAHostNeedNotBeConsecutive) {
  const Outcome outcome = run(job_on_hosts(5, {"who"}, "cyclic"));
  expect_success(outcome);
  expect_hosts_in_turn(outcome, 5);
  const Outcome shared = run(job_on_hosts(5, {"share"}, "cyclic"));
  expect_success(shared);
  EXPECT_EQ(lines_with(shared.output, "shared"), 5);
  const Outcome exchanged = run(job_on_hosts(5, {"exchange", "300000"}, "cyclic"));
  expect_success(exchanged);
  EXPECT_EQ(lines_with(exchanged.output, "exchanged "), 5);
  expect_one_line_of_ours(run(job_on_hosts(5, {"return-before-barrier", "2"}, "cyclic")),
                          "gex: rank 2 (host h0, pid ");
}

TEST_P(Foreign, LaunchersPlaceRanksInTurn) {
  const std::vector<std::string>& in_turn = GetParam().in_turn;
  if (in_turn.empty()) GTEST_SKIP() << GetParam().name << " has no hosts to place ranks on";
  const auto job_in_turn = [&](const char* scenario) {
    std::vector<std::string> words = in_turn;
    words.insert(words.end(), {probe, scenario});
    return run(start(5, std::move(words)));
  };
  // The launcher's processes on other hosts may end after it.
  const Outcome outcome = job_in_turn("who");
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  expect_hosts_in_turn(outcome, 5);
  const Outcome shared = job_in_turn("share");
  EXPECT_EQ(shared.status, 0) << shared.error;
  EXPECT_EQ(lines_with(shared.output, "shared"), 5);
}

TEST_P(Foreign, TheStatusIsTheRanks) {
  for (const int code : {0, 5}) {
    const Outcome outcome = run(job(3, {"end-from-main", std::to_string(code), "1"}));
    expect_clean(outcome);
    EXPECT_EQ(outcome.status, code) << outcome.error;
    EXPECT_EQ(lines_with(outcome.output, "final output"), 1);
    const int lines = code == 0 ? 1 : 0;
    EXPECT_EQ(lines_with(outcome.error, ") called gasnet_exit(0); ranks"), lines) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, "gex: "), lines) << outcome.error;
  }
}

TEST_P(Foreign, AFailureLetsTheOthersComeToTheirEndWithoutASignal) {
  const Outcome outcome =
      run(job(3, {"fail-together", "by-end"}).variable("GEX_EXIT_GRACE", "1000"));
  EXPECT_EQ(outcome.status, 4) << outcome.error;
  EXPECT_EQ(lines_with(outcome.output, "the reason"), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.error, "launch_probe: "), 0) << outcome.error;
}

TEST_P(Foreign, TheStatusIsThatOfARankThatIsSlowToExit) {
  // The other ranks end first, and the launcher then ends the remaining one; srun does with an
  // option.
  const Outcome outcome =
      run(job(3, {"exit-with", "5", "1", "500"}).variable("SLURM_KILL_BAD_EXIT", "1"));
  EXPECT_EQ(outcome.status, 5) << outcome.error;
}

TEST_P(Foreign, ARankThatReturnsEarlyGoesOnAnswering) {
  const Outcome outcome = run(job(3, {"return-early"}));
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "answered"), 2);
}

TEST_P(Foreign, ADeadRankIsNamedAndEndsTheJob) {
  // The launcher detects it too, and may end and close the output before the guardian's message.
  const auto expect_named = [](Command command, const std::string& message) {
    const auto running = command.start();
    EXPECT_TRUE(running->wait_until_all_gone());
    const Outcome outcome = running->finish();
    EXPECT_NE(outcome.status, 0);
    EXPECT_LE(lines_with(outcome.error, "gex: "), 1) << outcome.error;
    const std::string text = outcome.output + outcome.error;
    EXPECT_GE(
        lines_with(text, message) + lines_with(text, "ignal 9") + lines_with(text, "EXIT CODE: 9"),
        1)
        << text;
  };
  expect_named(job(3, {"die", "9", "1"}), "gex: rank 1 (host ");
  expect_named(job_on_hosts(4, {"die", "9", "3"}), "gex: rank 3 (host h1, pid ");
}

TEST_P(Foreign, WhoReturnsBeforeACollectiveCallIsNamed) {
  expect_one_line_of_ours(run(job_on_hosts(4, {"return-before-barrier", "1"})),
                          "returned from main or called exit(0) while a collective call waits "
                          "for it in ranks 0,2,3");
}

TEST_P(Foreign, AnErrorOfAllRanksIsOneLine) {
  expect_one_line_of_ours(run(job_on_hosts(4, {"fail-all"})), "this went wrong everywhere");
}

TEST_P(Foreign, NothingIsLeftWhenTheLauncherIsKilled) {
  if (GetParam().needs_slurm) GTEST_SKIP() << "Slurm has a limit of its own for jobs without srun";
  const auto running = job(3, {"stay"}).start();
  ASSERT_TRUE(running->wait_for("ready", 3)) << running->output();
  kill(running->process(), SIGKILL);
  EXPECT_TRUE(running->wait_until_all_gone());
}

TEST_P(Foreign, RanksWhoseGuardianIsKilledAreEnded) {
  // The ranks do not poll, so they do not detect it.
  const auto running = job(3, {"stay"}).start();
  ASSERT_TRUE(running->wait_for("ready", 3)) << running->output();
  int killed = 0;
  for (const pid_t process : processes_marked(running->mark())) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(process) + "/comm") >> name;
    if (name == "gex-guardian" && kill(process, SIGKILL) == 0) ++killed;
  }
  EXPECT_EQ(killed, 1);
  EXPECT_TRUE(running->wait_until_all_gone());
  const Outcome outcome = running->finish();
  expect_clean(outcome);
  EXPECT_NE(outcome.status, 0);
}

/// The words after "PID " in the line of `gexrun --report` for that process's job; "": no line.
std::string listed(pid_t process) {
  const Outcome list = Command({gexrun, "--report"}).run();
  expect_success(list);
  const std::string number = "\n" + std::to_string(process) + " ";
  const std::string lines = "\n" + list.output;
  const std::size_t at = lines.find(number);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + number.size();
  return lines.substr(begin, lines.find('\n', begin) - begin);
}

pid_t parent_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    if (word == "PPid:" && status >> word) return std::stoi(word);
  }
  return 0;
}

TEST_P(Foreign, AReportIsFoundByTheProgramTheLauncherAndEachRank) {
  for (const bool on_hosts : {false, true}) {
    const auto running = (on_hosts ? job_on_hosts(3, {"stay"}) : job(3, {"stay"})).start();
    ASSERT_TRUE(running->wait_for("ready", 3)) << running->output();
    std::vector<pid_t> ranks;
    for (const pid_t process : processes_marked(running->mark())) {
      std::string name;
      std::ifstream("/proc/" + std::to_string(process) + "/comm") >> name;
      if (name == "launch_probe" && parent_of(process) != 1) ranks.push_back(process);
    }
    ASSERT_EQ(ranks.size(), 3U);
    const pid_t launcher = parent_of(ranks.front());
    EXPECT_EQ(listed(launcher), probe + ", 3 ranks");
    ranks.push_back(launcher);
    for (const pid_t process : ranks) {
      const Outcome report = Command({gexrun, "--report", std::to_string(process)}).run();
      expect_success(report);
      // Behind it stands what the ranks do instead: they sleep.
      EXPECT_TRUE(report.output.starts_with("no rank waits\n")) << report.output;
    }
    kill(running->process(), SIGTERM);
    EXPECT_TRUE(running->wait_until_all_gone());
  }
}

TEST_P(Foreign, AProgramThatARankRunsIsAJobOfOne) {
  const Outcome outcome = run(job(2, {"execute-other"}));
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "rank 0 of 1 singleton"), 2) << outcome.output;
}

TEST_P(Foreign, AProgramThatARankRunsWithoutItsDescriptorsIsAJobOfOne) {
  const std::string closing = "for i in 3 4 5 6 7 8 9; do eval \"exec $i>&-\"; done; exec ";
  const Outcome outcome =
      run(job(2, {"execute-command", "sh", "-c", closing + '\'' + probe + "' who"}));
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "rank 0 of 1 singleton"), 1) << outcome.output;
}

TEST(ForeignEnvironment, TheProcessesOfALauncherThatARankRunsAreItsRanks) {
  const std::string mpirun = LAUNCH_TEST_MPICH;
  if (mpirun.empty()) GTEST_SKIP() << "MPICH is not installed";
  const Outcome outcome =
      Command({mpirun, "-n", "2", probe, "execute-command", mpirun, "-n", "2", probe, "who"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, " of 2 foreign"), 2) << outcome.output;
}

TEST(ForeignEnvironment, AProgramRunByARankOfAForkedJobIsNotTheLaunchersRank) {
  const std::string mpirun = LAUNCH_TEST_MPICH;
  if (mpirun.empty()) GTEST_SKIP() << "MPICH is not installed";
  const Outcome outcome =
      Command({mpirun, "-n", "2", probe, "execute-other"}).variable("GASNET_PSHM_NODES", "2").run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "rank 0 of 1 singleton"), 4) << outcome.output;
}

TEST_P(Foreign, MpiAndLibgexInOneProgram) {
  if (*GetParam().mpi_program == '\0') GTEST_SKIP() << "no program with its MPI can be tried";
  for (const char* const when : {"before", "after"}) {
    const Outcome outcome = run(start(3, {GetParam().mpi_program, when}));
    expect_clean(outcome);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_EQ(lines_with(outcome.output, "both agree on rank "), 3) << outcome.output;
  }
}

// MPI's launchers treat a job as failed if its processes have not finalized MPI.
TEST_P(Foreign, MpiIsFinalizedByRanksThatAllEndWithSuccess) {
  if (*GetParam().mpi_program == '\0') GTEST_SKIP() << "no program with its MPI can be tried";
  for (const int ranks : {1, 3}) {
    const Outcome outcome = run(start(ranks, {GetParam().mpi_program, "before", "end"}));
    expect_success(outcome);
    EXPECT_EQ(lines_with(outcome.output, "both agree on rank "), ranks) << outcome.output;
  }
}

TEST_P(Foreign, MpiIsLeftAloneWhereARankDoesNotEndOrCannotFinalizeIt) {
  if (*GetParam().mpi_program == '\0') GTEST_SKIP() << "no program with its MPI can be tried";
  for (const char* const how : {"end-without-one", "end-in-handler"}) {
    const auto running = start(3, {GetParam().mpi_program, "before", how}).start();
    EXPECT_TRUE(running->wait_until_all_gone()) << how;
    const Outcome outcome = running->finish();
    EXPECT_FALSE(outcome.hung) << how;
    EXPECT_EQ(lines_with(outcome.output, "both agree on rank "), 3) << outcome.output;
    EXPECT_EQ(lines_with(outcome.output + outcome.error, "finalized"), 0) << outcome.error;
  }
}

TEST(ForeignEnvironment, SeveralJobsOfOneAreRefused) {
  expect_failure(
      Command({probe, "who"}).variable("OMPI_COMM_WORLD_SIZE", "4").run(), 1,
      "this process is one of several of a launcher, and would run as a job of one rank: "
      "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE=4) offers this process neither PMIx nor");
  expect_failure(Command({probe, "who"}).variable("SLURM_STEP_NUM_TASKS", "2").run(), 1,
                 "(srun --mpi=pmix does)");
  expect_failure(
      Command({probe, "who"}).variable("PMI_PORT", "node1:4711").variable("PMI_ID", "0").run(), 1,
      "its launcher offers PMI at a port (PMI_PORT=node1:4711), which libgex does not speak; start "
      "it without -pmi-port, or by gexrun");
  expect_failure(
      Command({probe, "who"}).variable("PMI_FD", "77").run(), 1,
      "PMI_FD, PMI_RANK and PMI_SIZE are not the place of one of up to 1048576 processes");
  expect_failure(Command({probe, "who"})
                     .variable("PMI_FD", "77")
                     .variable("PMI_RANK", "0")
                     .variable("PMI_SIZE", "2")
                     .run(),
                 1, "the launcher does not speak PMI-1 at PMI_FD: its connection is broken");
  expect_success(Command({probe, "who"}).variable("PMI_SIZE", "1").run());
}

TEST(ForeignEnvironment, GexrunAndForkingGoBefore) {
  expect_success(job(Mode::gexrun, 2, {"exchange"}).variable("OMPI_COMM_WORLD_SIZE", "4").run());
  expect_success(job(Mode::fork, 2, {"exchange"}).variable("OMPI_COMM_WORLD_SIZE", "4").run());
}

}  // namespace
}  // namespace launch_test
