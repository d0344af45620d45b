// Messages of a rank to itself: the handler has run when the call returns, in the calling thread,
// and nothing else has been delivered.

#include <algorithm>
#include <thread>

#include "conformance.h"
#include "endpoints.h"
#include "message.h"
#include "transfer.h"

namespace conformance::to_self_test {
namespace {

/// Counts of a thread's messages to itself. Their handlers run in that thread, and the
/// replies' above the requests'.
struct Run {
  int requests = 0;
  int replies = 0;
  int depth = 0;
  const void* payload = nullptr;
  std::size_t bytes = 0;
  bool intact = true;
};
thread_local Run run;

extern Handlers handlers;
enum HandlerIndex {
  short_in,
  short_answered_in,
  payload_in,
  payload_answered_in,
  short_reply_in,
  payload_reply_in,
  negotiated_answered_in
};

constexpr std::uint64_t seed = 77;
constexpr std::size_t answers_at = segment_bytes / 2;

void take_payload(void* payload, std::size_t bytes) {
  run.payload = payload;
  run.bytes = bytes;
  run.intact = run.intact && holds(payload, seed, bytes);
}

/// Counts the handlers of one thread that are on its stack.
struct Depth {
  Depth() { ++run.depth; }
  ~Depth() { --run.depth; }
};

void on_short(gex_Token_t token, gex_AM_Arg_t first, gex_AM_Arg_t second) {
  const Depth depth;
  EXPECT_EQ(run.depth, 1);
  EXPECT_EQ(first, argument(2, 0));
  EXPECT_EQ(second, argument(2, 1));
  const gex_Token_Info_t info = info_of(token);
  EXPECT_EQ(info.gex_srcrank, gex_System_QueryJobRank());
  EXPECT_EQ(info.gex_ep, endpoint());
  EXPECT_EQ(info.gex_entry->gex_index, handlers[short_in]);
  ++run.requests;
}

void on_short_answered(gex_Token_t token) {
  const Depth depth;
  EXPECT_EQ(run.depth, 1);
  ++run.requests;
  const int before = run.replies;
  EXPECT_EQ(gex_AM_ReplyShort0(token, handlers[short_reply_in], 0), 0);
  EXPECT_EQ(run.replies, before + 1) << "the reply's handler has not run";
}

void on_payload(gex_Token_t token, void* payload, std::size_t bytes) {
  const Depth depth;
  EXPECT_EQ(run.depth, 1);
  EXPECT_TRUE(is_aligned(payload, 16) || info_of(token).gex_is_long != 0);
  take_payload(payload, bytes);
  // It is the handler's own.
  if (info_of(token).gex_is_long == 0) std::memset(payload, 0, bytes);
  ++run.requests;
}

void on_payload_answered(gex_Token_t token, void* payload, std::size_t bytes) {
  const Depth depth;
  EXPECT_EQ(run.depth, 1);
  take_payload(payload, bytes);
  ++run.requests;
  const int before = run.replies;
  if (info_of(token).gex_is_long != 0)
    gex_AM_ReplyLong0(token, handlers[payload_reply_in], payload, bytes, own_segment() + answers_at,
                      GEX_EVENT_NOW, 0);
  else
    gex_AM_ReplyMedium0(token, handlers[payload_reply_in], payload, bytes, GEX_EVENT_NOW, 0);
  EXPECT_EQ(run.replies, before + 1) << "the reply's handler has not run";
  // The request's payload is still there.
  EXPECT_TRUE(holds(payload, seed, bytes));
}

// The request's descriptor is closed by now: a reply can be prepared.
void on_negotiated_answered(gex_Token_t token, void* payload, std::size_t bytes) {
  const Depth depth;
  take_payload(payload, bytes);
  ++run.requests;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, bytes, bytes, nullptr, 0, 0);
  ASSERT_NE(gex_AM_SrcDescAddr(sd), payload);
  std::memcpy(gex_AM_SrcDescAddr(sd), payload, bytes);
  const int before = run.replies;
  gex_AM_CommitReplyMedium0(sd, handlers[payload_reply_in], bytes);
  EXPECT_EQ(run.replies, before + 1) << "the reply's handler has not run";
  EXPECT_TRUE(holds(payload, seed, bytes));
}

void on_short_reply(gex_Token_t token) {
  const Depth depth;
  EXPECT_EQ(run.depth, 2) << "a reply runs above its request";
  EXPECT_FALSE(is_request(token));
  EXPECT_EQ(info_of(token).gex_srcrank, gex_System_QueryJobRank());
  ++run.replies;
}

void on_payload_reply(gex_Token_t, void* payload, std::size_t bytes) {
  const Depth depth;
  EXPECT_EQ(run.depth, 2) << "a reply runs above its request";
  take_payload(payload, bytes);
  ++run.replies;
}

Handlers handlers({
    entry(on_short, short_request, 2, "to self: short"),
    entry(on_short_answered, short_request, 0, "to self: short, answered"),
    entry(on_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, "to self: payload"),
    entry(on_payload_answered, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0,
          "to self: payload, answered"),
    entry(on_short_reply, short_reply, 0, "to self: short reply"),
    entry(on_payload_reply, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 0, "to self: payload reply"),
    entry(on_negotiated_answered, medium_request, 0, "to self: negotiated, answered"),
});

/// Sizes that travel differently between ranks, up to the largest.
std::vector<std::size_t> medium_sizes() {
  const std::size_t max = gex_AM_MaxRequestMedium(team(), rank(), GEX_EVENT_NOW, 0, 0);
  std::vector<std::size_t> sizes = {0, 1, 8, 48, 255, 256, 257, 4096, 20000, max};
  std::erase_if(sizes, [=](std::size_t bytes) { return bytes > max; });
  return sizes;
}

void expect_run(int requests, int replies, std::size_t bytes) {
  EXPECT_EQ(run.requests, requests) << "the request's handler has not run";
  EXPECT_EQ(run.replies, replies);
  EXPECT_EQ(run.bytes, bytes);
  EXPECT_TRUE(run.intact) << bytes << " bytes";
}

/// Everything a thread can send itself. `flags`: 0 or GEX_FLAG_IMMEDIATE, with which it never fails
/// either. `landing`: a piece of the own segment.
void send_everything(gex_Flags_t flags, std::byte* landing) {
  run = {};
  ASSERT_EQ(gex_AM_RequestShort2(team(), rank(), handlers[short_in], flags, argument(2, 0),
                                 argument(2, 1)),
            0);
  expect_run(1, 0, 0);
  ASSERT_EQ(gex_AM_RequestShort0(team(), rank(), handlers[short_answered_in], flags), 0);
  expect_run(2, 1, 0);
  for (const std::size_t bytes : medium_sizes()) {
    const std::vector<std::uint8_t> source = payload_of(bytes, seed);
    std::vector<std::uint8_t> copy = source;
    run = {};
    gex_Event_t done = GEX_EVENT_INVALID;
    ASSERT_EQ(gex_AM_RequestMedium0(team(), rank(), handlers[payload_in], copy.data(), bytes, &done,
                                    flags),
              0);
    gex_Event_Wait(done);
    expect_run(1, 0, bytes);
    EXPECT_EQ(copy, source) << "the handler was given the client's own memory";
    run = {};
    ASSERT_EQ(gex_AM_RequestMedium0(team(), rank(), handlers[payload_answered_in], copy.data(),
                                    bytes, GEX_EVENT_NOW, flags),
              0);
    expect_run(1, 1, bytes);

    run = {};
    ASSERT_EQ(gex_AM_RequestLong0(team(), rank(), handlers[payload_in], source.data(), bytes,
                                  landing, GEX_EVENT_NOW, flags),
              0);
    expect_run(1, 0, bytes);
    EXPECT_EQ(run.payload, landing);
    EXPECT_TRUE(holds(landing, seed, bytes));
  }
}

TEST(ToSelf, HandlersHaveRunWhenTheCallReturns) {
  send_everything(0, own_segment());
}

TEST(ToSelf, ImmediateNeverFails) {
  send_everything(GEX_FLAG_IMMEDIATE, own_segment());
  run = {};
  for (int i = 1; i <= 10000; ++i) {
    ASSERT_EQ(gex_AM_RequestShort0(team(), rank(), handlers[short_answered_in], GEX_FLAG_IMMEDIATE),
              0);
    ASSERT_EQ(run.replies, i);
  }
}

TEST(ToSelf, LongIsAnsweredByALong) {
  const std::vector<std::uint8_t> source = payload_of(30000, seed);
  run = {};
  gex_AM_RequestLong0(team(), rank(), handlers[payload_answered_in], source.data(), source.size(),
                      own_segment(), GEX_EVENT_NOW, 0);
  expect_run(1, 1, source.size());
  EXPECT_EQ(run.payload, own_segment() + answers_at);
  EXPECT_TRUE(holds(own_segment() + answers_at, seed, source.size()));
}

// Source and destination are both the caller's, and may be the same memory in part.
TEST(ToSelf, LongMayOverlap) {
  constexpr std::size_t bytes = 10000;
  for (const std::ptrdiff_t by : {-4000, -1, 0, 1, 4000}) {
    std::byte* const from = own_segment() + 8192;
    fill(from, seed, bytes);
    run = {};
    gex_AM_RequestLong0(team(), rank(), handlers[payload_in], from, bytes, from + by, GEX_EVENT_NOW,
                        0);
    expect_run(1, 0, bytes);
    EXPECT_TRUE(holds(from + by, seed, bytes)) << by;
  }
}

TEST(ToSelf, NegotiatedPayload) {
  for (const gex_Flags_t flags : {gex_Flags_t{0}, gex_Flags_t{GEX_FLAG_IMMEDIATE}}) {
    for (const std::size_t bytes : medium_sizes()) {
      for (const gex_AM_Index_t index : {handlers[payload_in], handlers[negotiated_answered_in]}) {
        run = {};
        gex_AM_SrcDesc_t sd =
            gex_AM_PrepareRequestMedium(team(), rank(), nullptr, bytes, bytes, nullptr, flags, 0);
        ASSERT_NE(sd, GEX_AM_SRCDESC_NO_OP);
        ASSERT_GE(gex_AM_SrcDescSize(sd), bytes);
        fill(gex_AM_SrcDescAddr(sd), seed, bytes);
        ASSERT_EQ(gex_AM_CommitRequestMedium0_v2(sd, index, bytes, flags), 0);
        expect_run(1, index == handlers[payload_in] ? 0 : 1, bytes);
      }

      // The buffer is the client's also when nothing is in it.
      const std::vector<std::uint8_t> source = payload_of(std::max<std::size_t>(bytes, 1), seed);
      std::vector<std::uint8_t> copy = source;
      run = {};
      gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team(), rank(), copy.data(), bytes, bytes,
                                                        GEX_EVENT_NOW, flags, 0);
      ASSERT_NE(sd, GEX_AM_SRCDESC_NO_OP);
      ASSERT_EQ(gex_AM_CommitRequestMedium0_v2(sd, handlers[payload_in], bytes, flags), 0);
      expect_run(1, 0, bytes);
      EXPECT_EQ(copy, source) << "the handler was given the client's own memory";

      run = {};
      sd = gex_AM_PrepareRequestLong(team(), rank(), nullptr, bytes, bytes, nullptr, nullptr, flags,
                                     0);
      ASSERT_NE(sd, GEX_AM_SRCDESC_NO_OP);
      fill(gex_AM_SrcDescAddr(sd), seed, bytes);
      ASSERT_EQ(gex_AM_CommitRequestLong0_v2(sd, handlers[payload_in], bytes, own_segment(), flags),
                0);
      expect_run(1, 0, bytes);
      EXPECT_EQ(run.payload, own_segment());
    }
  }
  run = {};
  gex_AM_CancelRequestMedium(
      gex_AM_PrepareRequestMedium(team(), rank(), nullptr, 1000, 1000, nullptr, 0, 0), 0);
  EXPECT_EQ(run.requests, 0);
}

constexpr gex_AM_Index_t at_created = 138;
std::byte* took = nullptr;
gex_EP_t took_at = nullptr;
void at_created_endpoint(gex_Token_t token, void* payload, std::size_t) {
  took = static_cast<std::byte*>(payload);
  took_at = info_of(token).gex_ep;
}

// Any endpoint of the process, also one whose segment other ranks reach by messages.
TEST(ToSelf, OtherEndpointsOfTheProcess) {
  static const int registered = [] {
    int result = GASNET_OK;
    for (const From from : {From::library, From::client}) {
      gex_AM_Entry_t made = {at_created, handler(at_created_endpoint), long_request, 0,
                             nullptr,    "to self: created endpoint"};
      result = std::max(result, gex_EP_RegisterHandlers(ends(from).endpoint, &made, 1));
    }
    return result;
  }();
  ASSERT_EQ(registered, GASNET_OK);
  const std::vector<std::uint8_t> source = payload_of(100000, seed);
  for (const From from : {From::library, From::client}) {
    took = nullptr;
    gex_AM_RequestLong0(gex_TM_Pair(endpoint(), ends(from).index), rank(), at_created,
                        source.data(), source.size(), ends(from).own(), GEX_EVENT_NOW, 0);
    EXPECT_EQ(took, ends(from).own()) << name(from);
    EXPECT_EQ(took_at, ends(from).endpoint) << name(from);
    EXPECT_TRUE(holds(took, seed, source.size())) << name(from);
  }
}

TEST_IN_PAR(ToSelf, ThreadsRunTheirOwn) {
  constexpr std::size_t thread_count = 4;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i)
    threads.emplace_back([i] {
      for (int round = 0; round < 20; ++round)
        send_everything(round % 2 == 0 ? 0 : GEX_FLAG_IMMEDIATE,
                        own_segment() + i * (std::size_t{128} << 10));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance::to_self_test
