#include "job/protocol.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "job_frame_sockets.h"

namespace gex::job {
namespace {

using Outcome = Received::Outcome;

using Sockets = FrameSockets;
using Frames = Sockets;

TEST_F(Frames, ArriveAsTheyWereSent) {
  FrameHeader header;
  header.kind = FrameKind::gather;
  header.sequence = 3;
  header.total = 1'000'000'000'000;
  header.offset = 77;
  std::vector<std::byte> payload(max_payload);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 31);
  ASSERT_EQ(send_frame(ours_.get(), header, payload, -1, true), Sent::whole);
  const Received frame = receive_frame(theirs_.get(), buffer_, true);
  ASSERT_EQ(frame.outcome, Outcome::frame);
  EXPECT_EQ(frame.header.kind, FrameKind::gather);
  EXPECT_EQ(frame.header.sequence, 3u);
  EXPECT_EQ(frame.header.total, 1'000'000'000'000u);
  EXPECT_EQ(frame.header.offset, 77u);
  EXPECT_TRUE(
      std::equal(frame.payload.begin(), frame.payload.end(), payload.begin(), payload.end()));
  EXPECT_FALSE(frame.descriptor);
}

TEST_F(Frames, CarryADescriptorThatDoesNotSurviveExec) {
  const os::FileDescriptor file(open("/dev/null", O_RDONLY));
  ASSERT_EQ(send_frame(ours_.get(), {}, {}, file.get(), true), Sent::whole);
  const Received frame = receive_frame(theirs_.get(), buffer_, true);
  ASSERT_EQ(frame.outcome, Outcome::frame);
  ASSERT_TRUE(frame.descriptor);
  EXPECT_NE(frame.descriptor.get(), file.get());
  EXPECT_EQ(fcntl(frame.descriptor.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(Frames, WithoutRoomForTheirDescriptorAreMalformed) {
  ASSERT_EQ(send_frame(ours_.get(), {}, {}, ours_.get(), true), Sent::whole);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Received frame = receive_frame(theirs_.get(), buffer_, true);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(frame.outcome, Outcome::malformed);
  EXPECT_TRUE(frame.lost_descriptor);
}

TEST_F(Frames, OfTheWrongShapeAreMalformed) {
  std::vector<char> packet(sizeof(FrameHeader) + max_payload + 100);
  for (const std::size_t size : {std::size_t{1}, sizeof(FrameHeader) - 1,
                                 sizeof(FrameHeader) + max_payload + 1, packet.size()}) {
    ASSERT_EQ(send(ours_.get(), packet.data(), size, 0), static_cast<ssize_t>(size));
    EXPECT_EQ(receive_frame(theirs_.get(), buffer_, true).outcome, Outcome::malformed) << size;
  }
  EXPECT_EQ(receive_frame(theirs_.get(), buffer_, false).outcome, Outcome::would_block);
}

TEST_F(Frames, HeadersAloneAreTakenWithoutTheRest) {
  FrameHeader header;
  EXPECT_EQ(receive_header(theirs_.get(), header), Outcome::would_block);
  const os::FileDescriptor file(open("/dev/null", O_RDONLY));
  FrameHeader sent;
  sent.kind = FrameKind::gathered;
  const std::vector<std::byte> payload(max_payload);
  ASSERT_EQ(send_frame(ours_.get(), sent, payload, file.get(), true), Sent::whole);
  sent.kind = FrameKind::release;
  ASSERT_EQ(send_frame(ours_.get(), sent, {}, -1, true), Sent::whole);
  ASSERT_EQ(send(ours_.get(), payload.data(), sizeof header - 1, 0),
            static_cast<ssize_t>(sizeof header - 1));
  EXPECT_EQ(receive_header(theirs_.get(), header), Outcome::frame);
  EXPECT_EQ(header.kind, FrameKind::gathered);
  EXPECT_EQ(receive_header(theirs_.get(), header), Outcome::frame);
  EXPECT_EQ(header.kind, FrameKind::release);
  EXPECT_EQ(receive_header(theirs_.get(), header), Outcome::malformed);
  ours_.reset();
  EXPECT_EQ(receive_header(theirs_.get(), header), Outcome::closed);
}

TEST_F(Frames, EndWhenThePeerDoes) {
  ASSERT_EQ(send_frame(ours_.get(), {}, {}, -1, true), Sent::whole);
  // The last frames of a peer that ends with unread frames are still received.
  ASSERT_EQ(send_frame(theirs_.get(), {}, {}, -1, true), Sent::whole);
  ours_.reset();
  EXPECT_EQ(receive_frame(theirs_.get(), buffer_, true).outcome, Outcome::frame);
  EXPECT_EQ(receive_frame(theirs_.get(), buffer_, true).outcome, Outcome::closed);
  EXPECT_EQ(send_frame(theirs_.get(), {}, {}, -1, true), Sent::closed);
}

TEST_F(Sockets, MembershipSurvivesTheEnvironment) {
  const Membership membership{theirs_.get(), 5, 9};
  std::string why;
  const auto parsed = parse_membership(format_membership(membership), why);
  ASSERT_TRUE(parsed) << why;
  EXPECT_EQ(parsed->control, theirs_.get());
  EXPECT_EQ(parsed->rank, 5u);
  EXPECT_EQ(parsed->size, 9u);
}

TEST_F(Sockets, MembershipOfAnotherSocketIsRefused) {
  const std::string text = format_membership({theirs_.get(), 0, 2});
  std::string why;
  ASSERT_TRUE(parse_membership(text, why));
  ASSERT_EQ(dup2(ours_.get(), theirs_.get()), theirs_.get());
  EXPECT_FALSE(parse_membership(text, why));
  EXPECT_NE(why.find("is not the connection"), why.npos) << why;
}

TEST(Membership, EveryTruncationAndChangeIsRefused) {
  const std::string good = "3:100:0:2:12345";
  std::string why;
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(parse_membership(good.substr(0, length), why)) << length;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char c : {'\0', ' ', ':', '-', 'x'}) {
      std::string changed = good;
      changed[at] = c;
      EXPECT_FALSE(parse_membership(changed, why)) << changed;
    }
  }
  EXPECT_FALSE(parse_membership("3:99999999999999999999:0:2:5", why));
}

TEST_F(Sockets, ControlSocketsAreRecognisedByTheirMaker) {
  EXPECT_EQ(maker_of_control_socket(theirs_.get()), getpid());
  const os::FileDescriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(maker_of_control_socket(file.get()), 0);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const os::FileDescriptor first(ends[0]);
  const os::FileDescriptor second(ends[1]);
  EXPECT_EQ(maker_of_control_socket(first.get()), 0);
}

}  // namespace
}  // namespace gex::job
