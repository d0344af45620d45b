// Jobs on machines that lack something: memory files, /proc, /dev/null, threads.

#include <unistd.h>

#include <cerrno>
#include <string>

#include "modes.h"

namespace launch_test {
namespace {

const std::string without_call = LAUNCH_TEST_WITHOUT_CALL;

Command without(int error, const char* call, std::vector<std::string> words) {
  words.insert(words.begin(), {without_call, std::to_string(error), call});
  return Command(std::move(words));
}

/// A shell's commands, and then the job, where they change what is mounted.
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

TEST_F(Mounts, WhereNoFolderTakesThePageEitherEachWayIsNamed) {
  const Outcome outcome =
      mounted(
          "mount -t tmpfs -o ro tmpfs /dev/shm && mount -t tmpfs -o ro tmpfs /tmp",
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

TEST(WithoutThreads, AJobThatForksItselfNeedsNone) {
  expect_success(
      without(EAGAIN, "thread", {probe, "exchange"}).variable("GASNET_PSHM_NODES", "2").run());
}

}  // namespace
}  // namespace launch_test
