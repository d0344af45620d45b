// A guardian of ranks that another launcher has started, some of which do not join.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "launch/launcher_signals.h"
#include "launch/local/guardian.h"

namespace gex::launch {
namespace {

/// A guardian of two ranks, in a process of its own, whose standard error is a pipe.
class AdoptTest : public testing::Test {
 protected:
  AdoptTest() : listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    address_.sun_family = AF_UNIX;
    // The kernel chooses the socket's name.
    EXPECT_EQ(bind(listener_.get(), any(), sizeof(sa_family_t)), 0);
    length_ = sizeof address_;
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &length_), 0);
    EXPECT_EQ(listen(listener_.get(), SOMAXCONN), 0);
  }

  void start(double join_limit) {
    int words[2];
    ASSERT_EQ(pipe(words), 0);
    messages_.reset(words[0]);
    guardian_ = fork();
    if (guardian_ == 0) {
      dup2(words[1], STDERR_FILENO);
      close(words[1]);
      take_over_signals();
      Launch launch;
      launch.program_name = "adopt";
      launch.hosts.add("here", 2);
      launch.adopts = listener_.get();
      launch.launcher = getppid();
      launch.join_limit = join_limit;
      Guardian guardian(launch, os::FileDescriptor(), {});
      guardian.start();
      _exit(guardian.serve_watched());
    }
    close(words[1]);
  }

  /// A process that joins as `rank`, and exits with 0 when it receives the end of the job.
  pid_t start_rank(std::uint32_t rank) {
    const pid_t process = fork();
    if (process != 0) return process;
    const os::FileDescriptor control = connected();
    job::FrameHeader hello;
    hello.kind = job::FrameKind::hello;
    hello.first = rank;
    job::send_frame(control.get(), hello, {}, -1, /*wait=*/true);
    job::FrameBuffer buffer;
    for (;;) {
      const job::Received frame = job::receive_frame(control.get(), buffer, /*wait=*/true);
      if (frame.outcome != job::Received::Outcome::frame) _exit(2);
      if (frame.header.kind == job::FrameKind::ending) _exit(0);
    }
  }

  os::FileDescriptor connected() {
    os::FileDescriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(made.get(), any(), length_), 0) << std::strerror(errno);
    return made;
  }

  static int status_of(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// The guardian's messages, read until all of its processes have ended.
  std::string messages() const {
    std::string all;
    char part[512];
    for (ssize_t got = 0; (got = read(messages_.get(), part, sizeof part)) > 0;)
      all.append(part, static_cast<std::size_t>(got));
    return all;
  }

  const sockaddr* any() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }

  os::FileDescriptor listener_;
  os::FileDescriptor messages_;
  sockaddr_un address_{};
  socklen_t length_ = 0;
  pid_t guardian_ = -1;
};

TEST_F(AdoptTest, EndsTheJobAndItselfWhenARankDoesNotCome) {
  start(0.2);
  const pid_t rank = start_rank(0);
  EXPECT_EQ(status_of(rank), 0);
  EXPECT_EQ(status_of(guardian_), 1);
  EXPECT_EQ(messages(), "adopt: rank 1 of host here did not join the job\n");
}

TEST_F(AdoptTest, EndsItselfWhenNoRankComes) {
  start(0.2);
  EXPECT_EQ(status_of(guardian_), 1);
  EXPECT_EQ(messages(), "adopt: ranks 0,1 of host here did not join the job\n");
}

// Such connections do not become ranks, replace ranks or delay the guardian's end.
TEST_F(AdoptTest, RefusesConnectionsThatAreNotFromRanks) {
  start(1);
  std::vector<os::FileDescriptor> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connected());
  Random random(20);
  for (int i = 0; i < 300; ++i) {
    const os::FileDescriptor peer = connected();
    std::vector<std::byte> packet(random() % 200 + 1);
    for (std::byte& byte : packet) byte = static_cast<std::byte>(random());
    job::FrameHeader header;
    // Nearly valid: one field is wrong.
    if (i % 3 == 0 && packet.size() >= sizeof header) {
      header.kind = i % 2 == 0 ? job::FrameKind::hello : job::FrameKind::gather;
      header.first = i % 2 == 0 ? static_cast<std::uint32_t>(random()) | 2 : 0;
      std::memcpy(packet.data(), &header, sizeof header);
    }
    // This may fail if the guardian has refused the connection already.
    send(peer.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
  }
  const pid_t rank = start_rank(1);
  EXPECT_EQ(status_of(rank), 0);
  EXPECT_EQ(status_of(guardian_), 1);
  EXPECT_EQ(messages(),
            "adopt: refused a connection to the guardian of here that is not from a rank (reported "
            "once)\n"
            "adopt: rank 0 of host here did not join the job\n");
}

}  // namespace
}  // namespace gex::launch
