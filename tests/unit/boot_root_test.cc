// What the root of a job believes of a host that knows the secret, but is of another version, or
// mistaken: whatever it says, the root ends the job, tells the other host so, and ends itself.

#include "boot/root.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "boot/link.h"

namespace gex::boot {
namespace {

class RootTest : public testing::Test {
 protected:
  RootTest() {
    launch_.hosts.add("one", 2);
    launch_.hosts.add("two", 2);
  }

  /// A root in a process of its own, and the connections of both hosts.
  void begin() {
    const Secret secret = *Secret::draw();
    RootAddress address;
    os::FileDescriptor listener = listen_for_guardians(address, Reach::this_host);
    ASSERT_TRUE(listener);
    root_ = fork();
    ASSERT_GE(root_, 0);
    if (root_ == 0) {
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      take_over_signals();
      _exit(run_root_of_started(launch_, secret, std::move(listener)));
    }
    for (std::uint32_t host = 0; host < 2; ++host) {
      std::string why;
      os::FileDescriptor connection = connect_to_root(address, secret, host, why);
      ASSERT_TRUE(connection) << why;
      hosts_[host] = Link(std::move(connection));
    }
  }

  /// The second host does what it is told until the root is gone; whether it was told of the end.
  bool follow() {
    Link& link = hosts_[1];
    bool told = false;
    while (link.open()) {
      pollfd readable{link.socket(), POLLIN, 0};
      if (poll(&readable, 1, 20000) != 1) break;
      const Received frame = link.receive();
      if (frame.outcome == Received::Outcome::closed) return told;
      if (frame.outcome != Received::Outcome::frame) continue;
      if (frame.header.kind != FrameKind::job_end && frame.header.kind != FrameKind::job_farewell)
        continue;
      told = true;
      FrameHeader answer;
      answer.kind = FrameKind::host_finished;
      link.queue(answer);
      link.flush();
    }
    ADD_FAILURE() << "the root does not end";
    kill(root_, SIGKILL);
    return told;
  }

  int finish() {
    int status = 0;
    EXPECT_EQ(waitpid(root_, &status, 0), root_);
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    return WEXITSTATUS(status);
  }

  Launch launch_;
  pid_t root_ = 0;
  Link hosts_[2];
};

TEST_F(RootTest, EndsTheJobWhenAHostIsLost) {
  begin();
  hosts_[0].close();
  EXPECT_TRUE(follow());
  EXPECT_EQ(finish(), 1);
}

TEST_F(RootTest, EndsWithTheStatusThatAHostTells) {
  begin();
  FrameHeader end;
  end.kind = FrameKind::host_end;
  end.code = 7;
  hosts_[0].queue(end, "it went wrong");
  hosts_[0].flush();
  FrameHeader finished;
  finished.kind = FrameKind::host_finished;
  hosts_[0].queue(finished);
  hosts_[0].flush();
  EXPECT_TRUE(follow());
  EXPECT_EQ(finish(), 7);
}

TEST_F(RootTest, SurvivesFramesOfChance) {
  constexpr FrameKind kinds[] = {FrameKind::heartbeat,
                                 FrameKind::host_joined,
                                 FrameKind::host_gather,
                                 FrameKind::host_left,
                                 FrameKind::host_gone,
                                 FrameKind::host_waits_in_vain,
                                 FrameKind::host_end,
                                 FrameKind::host_asks_to_tell,
                                 FrameKind::host_interrupted,
                                 FrameKind::host_finished,
                                 FrameKind::gather,
                                 FrameKind::job_end,
                                 FrameKind{0},
                                 FrameKind{0xffffffffu}};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    begin();
    if (HasFatalFailure()) return;
    Random random(seed);
    const auto number = [&random](std::uint64_t below) {
      return random.below(16) == 0 ? random() : random.below(below);
    };
    for (int frame = 0; frame < 60; ++frame) {
      FrameHeader header;
      // Mostly what does not end it at once.
      header.kind = kinds[random.below(random.below(4) == 0 ? std::size(kinds) : 4)];
      header.sequence = static_cast<std::uint32_t>(number(3));
      header.total = number(16);
      header.offset = random.below(3) == 0 ? number(16) : 0;
      header.first = static_cast<std::uint32_t>(number(3));
      header.count = static_cast<std::uint32_t>(number(3));
      header.code = static_cast<std::int32_t>(number(20));
      header.death = static_cast<std::uint32_t>(number(2));
      hosts_[0].queue(header, std::string(random.below(17), 'x'));
    }
    hosts_[0].flush();
    hosts_[0].close();
    follow();
    finish();
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace gex::boot
