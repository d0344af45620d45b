// Where long payload goes: addresses, offsets, zero bytes, neighbours left alone.

#include "conformance.h"
#include "message.h"

namespace conformance::am_long_test {
namespace {

Count requests_seen;
Count replies_seen;
void* last_address;
std::size_t last_bytes;

extern Handlers handlers;

enum : gex_AM_Arg_t { quiet, reply_zero, reply_offset };
/// A destination that no segment contains.
void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{0x123450});

void request(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t how) {
  last_address = payload;
  last_bytes = bytes;
  if (how == reply_zero) {
    gex_AM_ReplyLong0(token, handlers[1], nullptr, 0, nowhere, GEX_EVENT_NOW, 0);
  }
  if (how == reply_offset) {
    // Both addresses are offsets: the reply sends back what has just arrived.
    const auto from = static_cast<std::uintptr_t>(static_cast<std::byte*>(payload) - own_segment());
    gex_AM_ReplyLong0(token, handlers[1], reinterpret_cast<void*>(from), bytes,
                      reinterpret_cast<void*>(from + 100000), GEX_EVENT_NOW,
                      GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
  }
  ++requests_seen;
}
void reply(gex_Token_t, void* payload, std::size_t bytes) {
  last_address = payload;
  last_bytes = bytes;
  ++replies_seen;
}
void request_bare(gex_Token_t, void* payload, std::size_t bytes) {
  last_address = payload;
  last_bytes = bytes;
  ++requests_seen;
}
void request_medium_bare(gex_Token_t, void* payload, std::size_t bytes) {
  last_bytes = bytes;
  EXPECT_EQ(first_difference(payload, 3, bytes), bytes);
  ++requests_seen;
}

Handlers handlers({
    entry(request, long_request, 1, "long: request"),
    entry(reply, long_reply, 0, "long: reply"),
    entry(request_bare, long_request, 0, "long: bare request"),
    entry(request_medium_bare, medium_request, 0, "long: medium"),
});

class Long : public testing::Test {
 protected:
  void SetUp() override {
    requests_seen.reset();
    replies_seen.reset();
    std::memset(own_segment(), 0x5a, 300000);
    barrier();
  }
};

void* offset(std::uintptr_t bytes) {
  return reinterpret_cast<void*>(bytes);
}

TEST_F(Long, OfZeroBytesDeliversTheDestinationAsGiven) {
  for (void* destination :
       {static_cast<void*>(nullptr), nowhere, static_cast<void*>(segment_of(next()) + 17)}) {
    requests_seen.reset();
    barrier();
    gex_AM_RequestLong0(team(), next(), handlers[2], nullptr, 0, destination, GEX_EVENT_NOW, 0);
    WAIT_UNTIL(requests_seen.get() == 1);
    void* const expected = destination == nullptr || destination == nowhere
                               ? destination
                               : static_cast<void*>(own_segment() + 17);
    EXPECT_EQ(last_address, expected);
    EXPECT_EQ(last_bytes, 0U);
    barrier();
  }
}

TEST_F(Long, ReplyOfZeroBytesDeliversTheDestinationAsGiven) {
  gex_AM_RequestLong1(team(), next(), handlers[0], nullptr, 0, nowhere, GEX_EVENT_NOW, 0,
                      reply_zero);
  WAIT_UNTIL(requests_seen.get() == 1 && replies_seen.get() == 1);
  EXPECT_EQ(last_address, nowhere);
  EXPECT_EQ(last_bytes, 0U);
}

TEST_F(Long, WritesItsBytesAndNoOthers) {
  for (const std::size_t wanted : {1, 13, 300, 5001, 70001}) {
    const std::size_t bytes = fitting_long(wanted, 0);
    for (const std::size_t at : {std::size_t{64}, std::size_t{67}}) {
      std::memset(own_segment(), 0x5a, 80000);
      requests_seen.reset();
      barrier();
      const std::vector<std::uint8_t> source = payload_of(bytes, 9);
      gex_AM_RequestLong0(team(), next(), handlers[2], source.data(), bytes,
                          segment_of(next()) + at, GEX_EVENT_NOW, 0);
      WAIT_UNTIL(requests_seen.get() == 1);
      EXPECT_EQ(last_address, own_segment() + at);
      EXPECT_EQ(first_difference(own_segment() + at, 9, bytes), bytes);
      EXPECT_EQ(own_segment()[at - 1], std::byte{0x5a});
      EXPECT_EQ(own_segment()[at + bytes], std::byte{0x5a});
      barrier();
    }
  }
}

TEST_F(Long, PeerSegmentOffset) {
  const std::vector<std::uint8_t> source = payload_of(1000, 3);
  gex_AM_RequestLong0(team(), next(), handlers[2], source.data(), source.size(), offset(4096),
                      GEX_EVENT_NOW, GEX_FLAG_PEER_SEG_OFFSET);
  WAIT_UNTIL(requests_seen.get() == 1);
  EXPECT_EQ(last_address, own_segment() + 4096);
  EXPECT_EQ(first_difference(own_segment() + 4096, 3, 1000), 1000U);
}

TEST_F(Long, SelfSegmentOffset) {
  fill(own_segment() + 200000, 3, 1000);
  gex_AM_RequestLong0(team(), next(), handlers[2], offset(200000), 1000, segment_of(next()) + 4096,
                      GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_OFFSET);
  gex_AM_RequestMedium0(team(), next(), handlers[3], offset(200000), 500, GEX_EVENT_NOW,
                        GEX_FLAG_SELF_SEG_OFFSET);
  WAIT_UNTIL(requests_seen.get() == 2);
  EXPECT_EQ(first_difference(own_segment() + 4096, 3, 1000), 1000U);
}

TEST_F(Long, OffsetsInRequestAndReply) {
  constexpr std::size_t bytes = 2000;
  fill(own_segment() + 200000, 3, bytes);
  gex_AM_RequestLong1(team(), next(), handlers[0], offset(200000), bytes, offset(8192),
                      GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET,
                      reply_offset);
  WAIT_UNTIL(requests_seen.get() == 1 && replies_seen.get() == 1);
  EXPECT_EQ(first_difference(own_segment() + 8192, 3, bytes), bytes);
  EXPECT_EQ(first_difference(own_segment() + 108192, 3, bytes), bytes);
}

// The other dispositions only assert what is so.
TEST_F(Long, DispositionFlagsChangeNothing) {
  fill(own_segment() + 200000, 3, 1000);
  long sent = 0;
  for (const gex_Flags_t self :
       {GEX_FLAG_SELF_SEG_UNKNOWN, GEX_FLAG_SELF_SEG_SOME, GEX_FLAG_SELF_SEG_BOUND}) {
    for (const gex_Flags_t peer :
         {GEX_FLAG_PEER_SEG_UNKNOWN, GEX_FLAG_PEER_SEG_SOME, GEX_FLAG_PEER_SEG_BOUND}) {
      gex_AM_RequestLong0(team(), next(), handlers[2], own_segment() + 200000, 1000,
                          segment_of(next()), GEX_EVENT_NOW, self | peer);
      ++sent;
      WAIT_UNTIL(requests_seen.get() == sent);
      EXPECT_EQ(last_address, own_segment());
      EXPECT_EQ(first_difference(own_segment(), 3, 1000), 1000U);
      barrier();
    }
  }
}

TEST_F(Long, LocalCopyFlagsChangeNothing) {
  long sent = 0;
  for (const gex_Flags_t copy : {GEX_FLAG_LC_COPY_YES, GEX_FLAG_LC_COPY_NO}) {
    for (const std::size_t wanted : {10, 3000, 60000}) {
      const std::size_t bytes = fitting_long(wanted, 0);
      std::vector<std::uint8_t> source = payload_of(bytes, 3);
      gex_Event_t completion = GEX_EVENT_INVALID;
      gex_AM_RequestLong0(team(), next(), handlers[2], source.data(), bytes, segment_of(next()),
                          &completion, copy);
      gex_Event_Wait(completion);
      std::fill(source.begin(), source.end(), std::uint8_t{0xee});
      ++sent;
      WAIT_UNTIL(requests_seen.get() == sent);
      EXPECT_EQ(first_difference(own_segment(), 3, bytes), bytes);
      barrier();
    }
  }
}

}  // namespace
}  // namespace conformance::am_long_test
