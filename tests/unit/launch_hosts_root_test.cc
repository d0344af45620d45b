// The root of a job with an authenticated host that sends invalid frames, as another version might:
// in any case the root ends the job, sends the end to the other host, and exits.

#include "launch/hosts/root.h"
#include "launch/launcher_signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "job/packed_table.h"
#include "launch/hosts/link.h"

namespace gex::launch {
namespace {

class RootTest : public testing::Test {
 protected:
  RootTest() {
    launch_.hosts.add("one", 2);
    launch_.hosts.add("two", 2);
  }

  /// Starts a root in a process of its own, and connects both hosts.
  void begin() {
    begin_without_hosts();
    for (std::uint32_t host = 0; host < 2 && !HasFatalFailure(); ++host) connect(host);
  }
  void begin_without_hosts() {
    os::FileDescriptor listener = listen_for_guardians(address_, Reach::this_host);
    ASSERT_TRUE(listener);
    root_ = fork();
    ASSERT_GE(root_, 0);
    if (root_ == 0) {
      dup2(messages_[1] >= 0 ? messages_[1] : open("/dev/null", O_WRONLY), STDERR_FILENO);
      take_over_signals();
      _exit(run_root_of_started(launch_, secret_, std::move(listener)));
    }
  }
  /// `timeout`: of 0 allows one attempt.
  void connect(std::uint32_t host, double timeout = connect_timeout) {
    std::string why;
    RootConnection connection = connect_to_root(address_, secret_, host, why, timeout);
    ASSERT_TRUE(connection) << why;
    keys_[host] = connection.keys;
    hosts_[host] = Link(std::move(connection.socket), connection.keys);
  }

  /// Waits until the host receives a frame of that kind, and returns the frame's rank.
  std::uint32_t receive_rank_of(std::uint32_t host, job::FrameKind kind) {
    Link& link = hosts_[host];
    for (;;) {
      pollfd readable{link.socket(), POLLIN, 0};
      if (poll(&readable, 1, 20000) != 1) break;
      const job::Received frame = link.receive();
      if (frame.outcome == job::Received::Outcome::closed) break;
      if (frame.outcome == job::Received::Outcome::frame && frame.header.kind == kind)
        return frame.header.first;
    }
    ADD_FAILURE() << "host " << host << " did not receive the frame";
    return UINT32_MAX;
  }

  /// Lets the second host follow the root's frames until the root closes the connection. Closes it
  /// itself after `timeout_ms` without a frame. Returns whether the end of the job was received.
  bool follow(int timeout_ms) {
    Link& link = hosts_[1];
    bool end_received = false;
    while (link.open()) {
      pollfd readable{link.socket(), POLLIN, 0};
      if (poll(&readable, 1, timeout_ms) != 1) break;
      const job::Received frame = link.receive();
      if (frame.outcome == job::Received::Outcome::closed) return end_received;
      if (frame.outcome != job::Received::Outcome::frame) continue;
      if (frame.header.kind != job::FrameKind::job_end &&
          frame.header.kind != job::FrameKind::job_release)
        continue;
      end_received = true;
      job::FrameHeader answer;
      answer.kind = job::FrameKind::host_finished;
      link.queue(answer);
      link.flush();
    }
    link.close();
    return end_received;
  }

  int finish() {
    using namespace std::chrono;
    const auto limit = steady_clock::now() + seconds(20);
    int status = 0;
    while (waitpid(root_, &status, WNOHANG) == 0) {
      if (steady_clock::now() > limit) {
        ADD_FAILURE() << "the root does not end";
        kill(root_, SIGKILL);
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    return WEXITSTATUS(status);
  }

  Launch launch_;
  Secret secret_ = *Secret::generate();
  RootAddress address_;
  pid_t root_ = 0;
  Link hosts_[2];
  LinkKeys keys_[2];
  int messages_[2] = {-1, -1};  ///< a pipe for what the root prints; -1: it is not looked at
};

TEST_F(RootTest, EndsTheJobWhenAHostIsLost) {
  begin();
  hosts_[0].close();
  EXPECT_TRUE(follow(20000));
  EXPECT_EQ(finish(), 1);
}

TEST_F(RootTest, SendsALateHostTheRankThatHasLeft) {
  begin_without_hosts();
  if (HasFatalFailure()) return;
  connect(0);
  if (HasFatalFailure()) return;
  job::FrameHeader left;
  left.kind = job::FrameKind::host_left;
  left.count = 1;
  const job::RankEvent event{.rank = 1};
  hosts_[0].queue(left, std::make_shared<const std::vector<std::byte>>(
                            job::pack_table(std::as_bytes(std::span(&event, 1)), 1)));
  hosts_[0].flush();
  EXPECT_EQ(receive_rank_of(0, job::FrameKind::job_absent), 1u);
  connect(1);
  if (HasFatalFailure()) return;
  EXPECT_EQ(receive_rank_of(1, job::FrameKind::job_absent), 1u);
  hosts_[0].close();
  EXPECT_TRUE(follow(20000));
  EXPECT_EQ(finish(), 1);
}

TEST_F(RootTest, EndsWithTheStatusThatAHostSends) {
  begin();
  job::FrameHeader end;
  end.kind = job::FrameKind::host_end;
  end.code = 7;
  hosts_[0].queue(end, "it went wrong");
  hosts_[0].flush();
  job::FrameHeader finished;
  finished.kind = job::FrameKind::host_finished;
  hosts_[0].queue(finished);
  hosts_[0].flush();
  EXPECT_TRUE(follow(20000));
  EXPECT_EQ(finish(), 7);
}

TEST_F(RootTest, ManySilentConnectionsKeepNoHostWaitingAndAreNamed) {
  ASSERT_EQ(pipe2(messages_, O_CLOEXEC), 0);
  begin_without_hosts();
  close(messages_[1]);
  std::vector<os::FileDescriptor> silent;
  sockaddr_in root{};
  root.sin_family = AF_INET;
  root.sin_port = htons(address_.port);
  root.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 700; ++i) {
    os::FileDescriptor& one = silent.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(one.get(), reinterpret_cast<sockaddr*>(&root), sizeof root), 0);
  }
  // At once, without a retry.
  for (std::uint32_t host = 0; host < 2 && !HasFatalFailure(); ++host) connect(host, 0);
  hosts_[0].close();
  EXPECT_TRUE(follow(20000));
  EXPECT_EQ(finish(), 1);
  std::string text(4096, '\0');
  text.resize(
      static_cast<std::size_t>(std::max<ssize_t>(0, read(messages_[0], text.data(), text.size()))));
  EXPECT_NE(text.find("refused a connection from 127.0.0.1 that did not authenticate"),
            std::string::npos)
      << text;
  close(messages_[0]);
}

TEST_F(RootTest, AListenerThatIsSilentAtAnotherAddressKeepsNoHostWaiting) {
  begin_without_hosts();
  const os::FileDescriptor silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(address_.port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  ASSERT_EQ(bind(silent.get(), reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  ASSERT_EQ(listen(silent.get(), 8), 0);
  address_.hosts.insert(address_.hosts.begin(), "127.0.0.2");
  // Without a retry. The root does not wait longer than the guardian would for that listener.
  for (std::uint32_t host = 0; host < 2 && !HasFatalFailure(); ++host) connect(host, 0);
  hosts_[0].close();
  EXPECT_TRUE(follow(20000));
  EXPECT_EQ(finish(), 1);
}

TEST_F(RootTest, SurvivesRandomFrames) {
  constexpr job::FrameKind kinds[] = {job::FrameKind::heartbeat,
                                      job::FrameKind::host_joined,
                                      job::FrameKind::host_gather,
                                      job::FrameKind::host_left,
                                      job::FrameKind::host_gone,
                                      job::FrameKind::host_wait_on_exited_rank,
                                      job::FrameKind::host_end,
                                      job::FrameKind::host_error_report,
                                      job::FrameKind::host_interrupted,
                                      job::FrameKind::host_finished,
                                      job::FrameKind::gather,
                                      job::FrameKind::job_end,
                                      job::FrameKind{0},
                                      job::FrameKind{0xffffffffu}};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    begin();
    if (HasFatalFailure()) return;
    Random random(seed);
    const auto number = [&random](std::uint64_t below) {
      return random.below(16) == 0 ? random() : random.below(below);
    };
    std::vector<std::byte> stream;
    for (int frame = 0; frame < 60; ++frame) {
      job::FrameHeader header;
      // Mostly kinds that do not end the job at once.
      header.kind = kinds[random.below(random.below(4) == 0 ? std::size(kinds) : 4)];
      header.sequence = static_cast<std::uint32_t>(number(3));
      header.total = number(16);
      header.offset = random.below(3) == 0 ? number(16) : 0;
      header.first = static_cast<std::uint32_t>(number(3));
      header.count = static_cast<std::uint32_t>(number(3));
      header.code = static_cast<std::int32_t>(number(20));
      header.death = static_cast<std::uint32_t>(number(2));
      const std::vector<std::byte> payload(random.below(17), std::byte{'x'});
      header.bytes = static_cast<std::uint32_t>(payload.size());
      const auto bytes = std::as_bytes(std::span(&header, 1));
      std::vector<std::byte> sealed(bytes.begin(), bytes.end());
      sealed.insert(sealed.end(), payload.begin(), payload.end());
      seal_frame(sealed, Secret(keys_[0].send), static_cast<std::uint64_t>(frame));
      stream.insert(stream.end(), sealed.begin(), sealed.end());
    }
    // Fails partway if the root closes the connection.
    send(hosts_[0].socket(), stream.data(), stream.size(), MSG_NOSIGNAL);
    hosts_[0].close();
    follow(50);
    finish();
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace gex::launch
