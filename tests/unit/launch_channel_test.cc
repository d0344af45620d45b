#include "launch/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <utility>
#include <vector>

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

}  // namespace
}  // namespace gex::launch
