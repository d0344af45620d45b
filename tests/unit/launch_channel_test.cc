#include "launch/channel.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "job/job.h"
#include "job/job_page.h"
#include "job/limits.h"
#include "job/packed_table.h"
#include "job_frame_sockets.h"

namespace gex::launch {
namespace {

using Outcome = job::Received::Outcome;

using ChannelTest = job::FrameSockets;

TEST_F(ChannelTest, KeepsWhatTheSocketDoesNotTake) {
  Channel channel(std::move(ours_));
  auto body = std::make_shared<std::vector<std::byte>>(8u << 20);
  for (std::size_t i = 0; i < body->size(); ++i) (*body)[i] = static_cast<std::byte>(i * 7 >> 3);
  job::FrameHeader header;
  header.kind = job::FrameKind::gathered;
  channel.queue(header, body);
  job::FrameHeader last;
  last.kind = job::FrameKind::release;
  channel.queue(last);
  ASSERT_EQ(channel.flush(), Channel::State::blocked);

  std::vector<std::byte> received;
  for (;;) {
    const job::Received frame = job::receive_frame(theirs_.get(), buffer_, false);
    if (frame.outcome == Outcome::would_block) {
      channel.flush();
      continue;
    }
    ASSERT_EQ(frame.outcome, Outcome::frame);
    if (frame.header.kind == job::FrameKind::release) break;
    ASSERT_EQ(frame.header.total, body->size());
    ASSERT_EQ(frame.header.offset, received.size());
    received.insert(received.end(), frame.payload.begin(), frame.payload.end());
  }
  EXPECT_EQ(received, *body);
  EXPECT_EQ(channel.flush(), Channel::State::idle);
}

TEST_F(ChannelTest, DropsWhatItsPeerWillNotRead) {
  Channel channel(std::move(ours_));
  theirs_.reset();
  channel.queue(job::FrameHeader{});
  EXPECT_EQ(channel.flush(), Channel::State::broken);
  channel.close();
  channel.queue(job::FrameHeader{});
  EXPECT_EQ(channel.flush(), Channel::State::broken);
}

/// The list of hosts of the largest job, with ranks in turn, is more than a frame, and more than a
/// socket takes at once.
TEST_F(ChannelTest, WelcomesARankOfTheLargestJob) {
  constexpr std::uint32_t ranks_of_host = 128;
  constexpr std::uint32_t own = 1000;
  std::vector<std::uint32_t> hosts(job::max_ranks);
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank)
    hosts[rank] = rank % (job::max_ranks / ranks_of_host);
  const std::vector<std::byte> bytes =
      job::pack_table(std::as_bytes(std::span(hosts)), hosts.size());
  EXPECT_GT(bytes.size(), job::max_payload);
  job::JobPage page;
  os::FileDescriptor file;
  ASSERT_EQ(page.create(file, ranks_of_host), 0);

  const pid_t rank = fork();
  if (rank == 0) {
    setenv("GEX_JOB", job::format_membership({theirs_.get(), own, job::max_ranks}).c_str(), 1);
    const job::Job& joined = job::Job::join();
    const auto is_right = [&](std::uint32_t each) { return joined.host_of(each) == hosts[each]; };
    bool right = joined.size() == hosts.size() && joined.rank() == own;
    for (std::uint32_t each = 0; each < hosts.size(); ++each) right = right && is_right(each);
    _exit(right ? 0 : 1);
  }
  theirs_.reset();
  Channel channel(std::move(ours_));
  job::FrameHeader welcome;
  welcome.kind = job::FrameKind::welcome;
  channel.queue(welcome, std::make_shared<std::vector<std::byte>>(bytes),
                std::make_shared<os::FileDescriptor>(std::move(file)));
  while (channel.flush() == Channel::State::blocked) {
    pollfd writable{channel.socket(), POLLOUT, 0};
    poll(&writable, 1, -1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(rank, &status, 0), rank);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gex::launch
