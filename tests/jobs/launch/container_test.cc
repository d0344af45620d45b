// Jobs as the first process of a container: process 1 of a PID namespace.

#include <signal.h>
#include <unistd.h>

#include "modes.h"

namespace launch_test {
namespace {

/// The command that runs another one as process 1 of a container.
std::vector<std::string> in_container(std::vector<std::string> words) {
  std::vector<std::string> whole = {"unshare"};
  if (geteuid() != 0) whole.push_back("--map-root-user");
  whole.insert(whole.end(), {"--pid", "--fork", "--mount-proc", "--kill-child"});
  whole.insert(whole.end(), words.begin(), words.end());
  return whole;
}

class Container : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome = Command(in_container({"true"})).run();
    if (outcome.status != 0) {
      GTEST_SKIP() << "this machine does not let us make a PID namespace: " << outcome.error;
    }
  }
};

TEST_F(Container, AJobRunsUnderProcessOne) {
  const Outcome outcome = Command(in_container({gexrun, "-n", "4", probe, "exchange"})).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 4);
}

TEST_F(Container, AForkedJobRunsUnderProcessOne) {
  const Outcome outcome =
      Command(in_container({probe, "exchange"})).variable("GASNET_PSHM_NODES", "4").run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 4);
}

TEST_F(Container, StatusAndMessagePassThrough) {
  const Outcome outcome = Command(in_container({gexrun, "-n", "3", probe, "die", "9", "1"})).run();
  expect_failure(outcome, 137, "was killed by signal 9 (Killed)");
}

TEST_F(Container, ProcessOneReceivesSignals) {
  // Signals to process 1 from inside its container are discarded if it has no handler.
  const auto running =
      Command(in_container({gexrun, "-n", "2", "sh", "-c", "echo ready; kill -TERM 1; sleep 600"}))
          .start();
  const Outcome outcome = running->finish();
  expect_failure(outcome, 143, "gexrun: ended by signal 15 (Terminated)");
}

TEST_F(Container, ProcessOneReapsOutsiders) {
  // Process 1 becomes the parent of orphans outside the job too, and must reap them.
  const Outcome outcome =
      Command(
          in_container({gexrun, "-n", "1", "sh", "-c",
                        "for i in 1 2 3 4 5; do (setsid sh -c 'true & exit' &); done; sleep 0.3; "
                        "grep -l 'State:.*Z' /proc/[0-9]*/status; echo done"}))
          .run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "done\n");
}

TEST_F(Container, WithoutProc) {
  // /proc need not be mounted in a container.
  const Outcome outcome =
      Command(in_container({"sh", "-c",
                            "umount -l /proc && exec " + gexrun + " -n 2 " + probe + " exchange"}))
          .run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 2);
}

}  // namespace
}  // namespace launch_test
