// Jobs on machines that lack something: memory files, /proc, /dev/null, threads, memory.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "modes.h"

namespace launch_test {
namespace {

const std::string without_call = LAUNCH_TEST_WITHOUT_CALL;

Command without(int error, const char* call, std::vector<std::string> words) {
  words.insert(words.begin(), {without_call, std::to_string(error), call});
  return Command(std::move(words));
}

/// Runs a shell's commands, and then the job, in a mount namespace of its own.
Command mounted(const std::string& commands, std::vector<std::string> words) {
  std::vector<std::string> whole = {"unshare", "--mount"};
  if (geteuid() != 0) whole.push_back("--map-root-user");
  whole.insert(whole.end(), {"sh", "-c", commands + " && exec \"$0\" \"$@\""});
  whole.insert(whole.end(), words.begin(), words.end());
  return Command(std::move(whole));
}

class Mounts : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome = mounted("mount -t tmpfs tmpfs /mnt", {"true"}).run();
    if (outcome.status != 0)
      GTEST_SKIP() << "this machine does not let us mount anything: " << outcome.error;
  }
};

class WithoutMemoryFiles : public testing::TestWithParam<int> {};

TEST_P(WithoutMemoryFiles, AJobStartsByGexrun) {
  expect_success(without(GetParam(), "memfd_create", {gexrun, "-n", "2", probe, "exchange"}).run());
}
TEST_P(WithoutMemoryFiles, AJobForksItself) {
  expect_success(without(GetParam(), "memfd_create", {probe, "exchange"})
                     .variable("GASNET_PSHM_NODES", "2")
                     .run());
}
TEST_P(WithoutMemoryFiles, AJobOfTwoHostsStarts) {
  expect_success(
      without(GetParam(), "memfd_create",
              {gexrun, "-n", "2", "--rsh", rsh_here, "--hosts", "one,two", probe, "exchange"})
          .run());
}
TEST_P(WithoutMemoryFiles, AnotherLaunchersJobStarts) {
  const std::string mpirun = LAUNCH_TEST_MPICH;
  if (mpirun.empty()) GTEST_SKIP() << "MPICH is not installed";
  const Outcome outcome =
      without(GetParam(), "memfd_create", {mpirun, "-n", "2", probe, "exchange"}).run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 2);
}
INSTANTIATE_TEST_SUITE_P(Bare, WithoutMemoryFiles, testing::Values(EPERM, ENOSYS, EACCES),
                         [](const auto& info) {
                           return info.param == EPERM    ? "EPERM"
                                  : info.param == ENOSYS ? "ENOSYS"
                                                         : "EACCES";
                         });

// The programs under test may be below /tmp.
TEST_F(Mounts, WhereNoFolderTakesThePageEitherEachWayIsNamed) {
  const Outcome outcome =
      mounted(
          "mount -t tmpfs -o ro tmpfs /dev/shm && mount --bind /tmp /tmp && "
          "mount -o remount,bind,ro /tmp",
          {without_call, std::to_string(EPERM), "memfd_create", gexrun, "-n", "2", probe, "who"})
          .variable("TMPDIR", "/nowhere")
          .run();
  expect_failure(
      outcome, 1,
      "gexrun: cannot make the job's page of memory: memfd_create: Operation not "
      "permitted; a file in /dev/shm: Read-only file system; a file in /nowhere: No such "
      "file or directory; a file in /tmp: Read-only file system");
}

TEST_F(Mounts, WithoutTheNullDeviceRanksReadAnEmptyInput) {
  const Outcome outcome =
      mounted("mount -t tmpfs tmpfs /dev", {gexrun, "-n", "3", probe, "read-input"})
          .input("a line\n")
          .run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "0 read 7: a line"), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, " read 0: "), 2) << outcome.output;
}

TEST_F(Mounts, WithoutProcessesToLookAtAJobRunsAndEnds) {
  expect_success(
      mounted("mount -t tmpfs tmpfs /proc", {gexrun, "-n", "3", probe, "exchange"}).run());
  expect_success(mounted("mount -t tmpfs tmpfs /proc", {probe, "exchange"})
                     .variable("GASNET_PSHM_NODES", "3")
                     .run());
  const Outcome died =
      mounted("mount -t tmpfs tmpfs /proc", {gexrun, "-n", "3", probe, "die", "9", "1"}).run();
  expect_failure(died, 137, "was killed by signal 9 (Killed)");
}

TEST(WithoutThreads, GexrunNamesTheOneThatItNeeds) {
  expect_failure(without(EAGAIN, "thread", {gexrun, "-n", "2", probe, "who"}).run(), 1,
                 "gexrun: cannot start the thread that passes on output: Resource temporarily "
                 "unavailable");
}

TEST(WithoutEvents, TheGuardianEndsInALine) {
  expect_failure(without(EPERM, "epoll_wait", {gexrun, "-n", "2", probe, "who"}).run(), 1,
                 "gexrun: the guardian cannot wait for its ranks: Operation not permitted");
}

TEST(WithoutThreads, AJobThatForksItselfNeedsNone) {
  expect_success(
      without(EAGAIN, "thread", {probe, "exchange"}).variable("GASNET_PSHM_NODES", "2").run());
}

/// A control group with a limit on memory, below that of this process, if it can be made.
class MemoryGroup {
 public:
  explicit MemoryGroup(unsigned long bytes) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::string own = line.substr(line.rfind(':') + 1);
      if (line.find(":memory:") != line.npos) {
        make("/sys/fs/cgroup/memory" + own, "memory.limit_in_bytes", bytes);
      } else if (line.starts_with("0::")) {
        make("/sys/fs/cgroup" + own, "memory.max", bytes);
      }
      if (ready_) return;
    }
  }
  ~MemoryGroup() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool ready() const noexcept { return ready_; }
  const std::string& setting() const noexcept { return setting_; }
  Command command(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"sh", "-c", "echo 0 > " + path_ + "/cgroup.procs && exec \"$0\" \"$@\""});
    return Command(std::move(words));
  }

 private:
  void make(const std::string& above, const char* setting, unsigned long bytes) {
    const std::string path = above + "/gex-test-" + std::to_string(getpid());
    if (mkdir(path.c_str(), 0755) != 0) return;
    path_ = path;
    setting_ = setting;
    std::ofstream limit(path + '/' + setting);
    ready_ = static_cast<bool>(limit << bytes << std::flush);
    // Version 2 has the file only if the parent group delegates the controller.
    if (!ready_) {
      rmdir(path.c_str());
      path_.clear();
    }
  }

  std::string path_;
  std::string setting_;
  bool ready_ = false;
};

TEST(LackOfMemory, IsNamedWhereTheKernelKillsARankForIt) {
  const MemoryGroup group(64UL << 20);
  if (!group.ready()) GTEST_SKIP() << "this machine does not let us make a control group";
  const auto expect_cause = [&](Command command, const std::string& death) {
    const Outcome outcome = command.run();
    expect_failure(outcome, 137,
                   ": killed by the kernel for lack of memory; its control group allows 64 MiB (" +
                       group.setting() + ")");
    EXPECT_EQ(lines_with(outcome.error, death), 1) << outcome.error;
  };
  const std::string death = "rank 1 (host ";
  expect_cause(group.command({gexrun, "-n", "2", probe, "eat-memory", "1"}), death);
  expect_cause(group.command({probe, "eat-memory", "1"}).variable("GASNET_PSHM_NODES", "2"), death);
}

TEST(LackOfMemory, IsNotNamedWhereAnotherProcessKillsARank) {
  const MemoryGroup group(64UL << 20);
  if (!group.ready()) GTEST_SKIP() << "this machine does not let us make a control group";
  const Outcome outcome = group.command({gexrun, "-n", "2", probe, "die", "9", "1"}).run();
  expect_failure(outcome, 137, "was killed by signal 9 (Killed)");
  EXPECT_EQ(lines_with(outcome.error, "lack of memory"), 0) << outcome.error;
}

}  // namespace
}  // namespace launch_test
