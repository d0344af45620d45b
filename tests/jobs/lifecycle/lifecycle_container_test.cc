// Where there is little: a container with 64 MB of /dev/shm and no network, and one where no rank
// may trace; and where there is much: a thousand ranks.

#include <unistd.h>

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

/// A command in namespaces of its own: no network, no shared memory but 64 MB, no other processes.
Command in_container(const std::string& command, bool with_proc = true) {
  std::vector<std::string> words = {"unshare", "-n", "-m", "-p", "-i", "-f", "--kill-child"};
  if (geteuid() != 0) words.push_back("--map-root-user");
  words.insert(words.end(),
               {"sh", "-c",
                "mount -t tmpfs -o size=64M tmpfs /dev/shm && " +
                    std::string(with_proc ? "mount -t proc proc /proc && " : "") + command});
  return Command(words);
}

class SmallContainer : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome = in_container("true").run();
    if (outcome.status != 0) {
      GTEST_SKIP() << "this machine does not let us make namespaces: " << outcome.error;
    }
  }
};

const std::string more_than_shm = "104857600";

TEST_F(SmallContainer, SegmentsBeyondItsSharedMemoryAreUsedToTheLastByte) {
  expect_success(in_container(gexrun + " -n 2 " + probe + " fill " + more_than_shm).run(),
                 "filled " + more_than_shm, 2);
}

TEST_F(SmallContainer, TheSameOverTheNetworkPath) {
  Command command = in_container(gexrun + " -n 2 " + probe + " fill " + more_than_shm);
  expect_success(over(command, Network::emu).run(), "filled " + more_than_shm, 2);
}

TEST_F(SmallContainer, ForkedAndWithoutProc) {
  Command command = in_container(probe + " fill " + more_than_shm, false);
  expect_success(command.variable("GASNET_PSHM_NODES", "2").run(), "filled " + more_than_shm, 2);
}

TEST_F(SmallContainer, NothingStaysInSharedMemory) {
  Command command = in_container(gexrun + " -n 3 " + probe +
                                 " exit_from_main 1 7; echo \"status $?\"; ls -A /dev/shm");
  const Outcome outcome = command.run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.output, "status 7\n");
}

/// The ranks of a job on a machine whose loopback has these addresses.
Command on_loopback(const std::string& addresses, const std::string& command) {
  std::vector<std::string> words = {"unshare", "-n"};
  if (geteuid() != 0) words.push_back("--map-root-user");
  words.insert(words.end(), {"sh", "-c", addresses + " && exec " + command});
  return Command(words);
}

#ifdef LIFECYCLE_TEST_OFI
TEST_F(SmallContainer, OfiUsesALoopbackThatHasTheNewerAddressOnly) {
  Command command = on_loopback("ip link set lo up && ip address delete 127.0.0.1/8 dev lo",
                                gexrun + " -n 2 " + probe + " fill 1048576");
  expect_success(over(command, Network::ofi).run(), "filled 1048576", 2);
}

TEST_F(SmallContainer, OfiReportsThatTheLoopbackHasNoAddress) {
  Command command = on_loopback("true", gexrun + " -n 2 " + probe + " fill 1048576");
  const Outcome outcome = over(command, Network::ofi).run();
  expect_nothing_left(outcome);
  EXPECT_NE(outcome.status, 0);
  EXPECT_GE(lines_with(outcome.error, "its loopback interface has neither 127.0.0.1 nor ::1"), 1)
      << outcome.error;
}
#endif

#ifdef LIFECYCLE_TEST_UCX
TEST_F(SmallContainer, UcxReportsThatSharedMemoryIsFull) {
  Command command = in_container("mount -t tmpfs -o size=1M tmpfs /dev/shm && exec " + gexrun +
                                 " -n 2 --conduit ucx " + probe + " fill 1048576");
  // What UCX keeps of a worker that it could not make is not looked for.
  const Outcome outcome = command.variable("GASNET_SUPERNODE_MAXSIZE", "1")
                              .variable("UCX_MEM_EVENTS", "no")
                              .variable("ASAN_OPTIONS", "detect_leaks=0")
                              .run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(lines_with(outcome.error, "; /dev/shm (1 MiB, "), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "conduit ucx cannot be used here"), 1) << outcome.error;
}
#endif

TEST_F(SmallContainer, WithoutProcAtAll) {
  Command command(
      {"unshare", "-m", "sh", "-c",
       "mount -t tmpfs tmpfs /proc && exec " + gexrun + " -n 3 " + probe + " fill 1048576"});
  expect_success(command.run(), "filled 1048576", 3);
}

class WithoutMemoryFiles : public testing::TestWithParam<Network> {};

TEST_P(WithoutMemoryFiles, AJobStartsAndReachesItsMemory) {
  Command command({LIFECYCLE_TEST_WITHOUT_CALL, "1", "memfd_create", gexrun, "-n", "3", probe,
                   "fill", "1048576"});
  command.variable("GASNET_MAX_SEGSIZE", "8MB");
  expect_success(over(command, GetParam()).run(), "filled 1048576", 3);
}
INSTANTIATE_TEST_SUITE_P(Lifecycle, WithoutMemoryFiles,
                         testing::Values(Network::shared_memory, Network::emu), name_of);

class WithoutPtrace : public testing::TestWithParam<Network> {};

const std::string without_ptrace = LIFECYCLE_TEST_WITHOUT_PTRACE;

TEST_P(WithoutPtrace, AJobStartsAndReachesItsMemory) {
  Command command({without_ptrace, gexrun, "-n", "3", probe, "fill", "1048576"});
  expect_success(over(command, GetParam()).run(), "filled 1048576", 3);
}
TEST_P(WithoutPtrace, AJobThatForksItself) {
  Command command({without_ptrace, probe, "fill", "1048576"});
  command.variable("GASNET_PSHM_NODES", "3");
  expect_success(over(command, GetParam()).run(), "filled 1048576", 3);
}
INSTANTIATE_TEST_SUITE_P(Lifecycle, WithoutPtrace,
                         testing::Values(Network::shared_memory, Network::emu), name_of);

TEST(ManyRanks, AThousandAndTwentyFourStartTalkAndEnd) {
  const Outcome outcome = job(1024, {"ring"}).run();
  expect_success(outcome, " of 1024", 1024);
}

TEST(ManyRanks, SixtyFourInNeighborhoodsOfThree) {
  Command command = job(64, {"ring"});
  command.variable("GEX_CONDUIT", "emu").variable("GASNET_SUPERNODE_MAXSIZE", "3");
  expect_success(command.run(), " of 64", 64);
}

TEST(ManyRanks, MoreThanALimitIsRefused) {
  const Outcome outcome = job(1048577, {"ring"}).run();
  expect_nothing_left(outcome);
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(lines_with(outcome.error, "1048576"), 1) << outcome.error;
}

}  // namespace
}  // namespace lifecycle_test
