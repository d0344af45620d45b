// GEX_FLAG_IMMEDIATE: a call that finds no room reports it, and then nothing was sent; what was
// accepted arrives once. Such calls never poll, so while every rank does nothing else, no rank
// receives.

#include <unistd.h>

#include <functional>

#include "conformance.h"
#include "message.h"
#include "still_barrier.h"

namespace conformance::am_immediate_test {
namespace {

/// Every bounded queue is full long before.
constexpr long max_attempts = 2000000;

Count seen;
Count replies_seen;
std::vector<int> times_seen;  ///< by number of the message

extern Handlers handlers;
enum HandlerIndex { plain_in, payload_in, answered_in, reply_in };

void note(gex_AM_Arg_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (index < times_seen.size()) ++times_seen[index];
  ++seen;
}
void receive(gex_Token_t, gex_AM_Arg_t number) {
  note(number);
}
void receive_payload(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t number) {
  EXPECT_EQ(first_difference(payload, 5, bytes), bytes);
  note(number);
}
void receive_and_answer(gex_Token_t token, gex_AM_Arg_t number) {
  note(number);
  if (gex_AM_ReplyShort0(token, handlers[reply_in], GEX_FLAG_IMMEDIATE) != 0) {
    EXPECT_EQ(gex_AM_ReplyShort0(token, handlers[reply_in], 0), 0);
  }
}
void receive_reply(gex_Token_t) {
  ++replies_seen;
}

Handlers handlers({
    entry(receive, short_request, 1, "immediate: short"),
    entry(receive_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 1, "immediate: payload"),
    entry(receive_and_answer, short_request, 1, "immediate: answered"),
    entry(receive_reply, short_reply, 0, "immediate: reply"),
});

// A request to oneself is never refused: ToSelf.
const NeedsPeers needs_peers("AmImmediate");

class AmImmediate : public testing::Test {
 protected:
  /// `attempt(number)` tries to send the message of that number to next(), and answers as the
  /// interface does. Every rank tries until it is refused. Returns how many were accepted.
  long flood(const std::function<int(gex_AM_Arg_t)>& attempt) {
    seen.reset();
    replies_seen.reset();
    times_seen.assign(max_attempts, 0);
    StillBarrier still;
    // No rank polls between the two: what arrives from here on may not be seen.
    still.arrive();
    const long before = seen.get();
    long accepted = 0;
    bool refused = false;
    while (!refused && accepted < max_attempts && seen.get() == before) {
      if (attempt(static_cast<gex_AM_Arg_t>(accepted)) == 0) {
        ++accepted;
      } else {
        refused = true;
      }
    }
    EXPECT_EQ(seen.get(), before) << "a call with GEX_FLAG_IMMEDIATE polled";
    // A refusal changes nothing, however often it is repeated.
    for (int again = 0; refused && again < 100; ++again) {
      if (attempt(static_cast<gex_AM_Arg_t>(accepted)) == 0) ++accepted;
    }
    EXPECT_EQ(seen.get(), before);
    // Whichever rank is refused first must not poll while the others still flood.
    still.arrive();
    EXPECT_TRUE(refused) << accepted << " messages were accepted by a rank that receives none";
    const std::vector<long> sent = gather(accepted);
    WAIT_UNTIL(seen.get() == sent[previous()]);
    barrier();
    EXPECT_EQ(seen.get(), sent[previous()]);
    for (long i = 0; i < sent[previous()]; ++i) {
      EXPECT_EQ(times_seen[static_cast<std::size_t>(i)], 1) << "message " << i;
    }
    return accepted;
  }
};

TEST_F(AmImmediate, Short) {
  flood([](gex_AM_Arg_t number) {
    return gex_AM_RequestShort1(team(), next(), handlers[plain_in], GEX_FLAG_IMMEDIATE, number);
  });
}

TEST_F(AmImmediate, Answered) {
  const long accepted = flood([](gex_AM_Arg_t number) {
    return gex_AM_RequestShort1(team(), next(), handlers[answered_in], GEX_FLAG_IMMEDIATE, number);
  });
  WAIT_UNTIL(replies_seen.get() == accepted);
}

TEST_F(AmImmediate, Medium) {
  for (const std::size_t wanted : {8, 200, 4000, 65536}) {
    const std::vector<std::uint8_t> source = payload_of(fitting_medium(wanted, 1), 5);
    flood([&source](gex_AM_Arg_t number) {
      return gex_AM_RequestMedium1(team(), next(), handlers[payload_in], source.data(),
                                   source.size(), GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, number);
    });
  }
}

TEST_F(AmImmediate, Long) {
  for (const std::size_t wanted : {8, 4000}) {
    const std::vector<std::uint8_t> source = payload_of(fitting_long(wanted, 1), 5);
    flood([&source](gex_AM_Arg_t number) {
      return gex_AM_RequestLong1(team(), next(), handlers[payload_in], source.data(), source.size(),
                                 segment_of(next()), GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, number);
    });
  }
}

// Prepare may answer NO_OP, or Commit_v2 non-zero: then the descriptor is still valid and is
// cancelled.
TEST_F(AmImmediate, NegotiatedMedium) {
  for (const std::size_t wanted : {8, 200, 4000}) {
    const std::size_t bytes = fitting_medium(wanted, 1);
    flood([bytes](gex_AM_Arg_t number) {
      gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team(), next(), nullptr, bytes, bytes,
                                                        nullptr, GEX_FLAG_IMMEDIATE, 1);
      if (sd == GEX_AM_SRCDESC_NO_OP) return 1;
      fill(gex_AM_SrcDescAddr(sd), 5, bytes);
      const int refused = gex_AM_CommitRequestMedium1_v2(sd, handlers[payload_in], bytes,
                                                         GEX_FLAG_IMMEDIATE, number);
      if (refused != 0) {
        EXPECT_EQ(gex_AM_SrcDescSize(sd), bytes);
        EXPECT_EQ(first_difference(gex_AM_SrcDescAddr(sd), 5, bytes), bytes);
        EXPECT_EQ(gex_AM_CancelRequestMedium(sd, 0), GASNET_OK);
      }
      return refused;
    });
  }
}

TEST_F(AmImmediate, NegotiatedLong) {
  const std::size_t bytes = fitting_long(3000, 1);
  flood([bytes](gex_AM_Arg_t number) {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team(), next(), nullptr, bytes, bytes, nullptr,
                                                    nullptr, GEX_FLAG_IMMEDIATE, 1);
    if (sd == GEX_AM_SRCDESC_NO_OP) return 1;
    fill(gex_AM_SrcDescAddr(sd), 5, bytes);
    const int refused = gex_AM_CommitRequestLong1_v2(
        sd, handlers[payload_in], bytes, segment_of(next()), GEX_FLAG_IMMEDIATE, number);
    if (refused != 0) {
      EXPECT_EQ(gex_AM_CancelRequestLong(sd, 0), GASNET_OK);
    }
    return refused;
  });
}

}  // namespace
}  // namespace conformance::am_immediate_test
