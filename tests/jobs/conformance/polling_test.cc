// Which calls poll and which do not.

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <unistd.h>

#include <cstring>

#include "endpoints.h"
#include "message.h"
#include "still_barrier.h"
#include "transfer.h"

namespace conformance::polling_test {
namespace {

Count seen;
Count replies_seen;
Count payloads_seen;

extern Handlers handlers;
enum HandlerIndex {
  notify_in,
  ask_in,
  reply_in,
  legal_in,
  payload_in,
  settle_in,
  settled_in,
  ask_own_in
};
/// At the created endpoint whose segment is the client's memory.
constexpr gex_AM_Index_t long_in = 139;

gex_HSL_t lock = GEX_HSL_INITIALIZER;

void notify(gex_Token_t) {
  ++seen;
}
void ask(gex_Token_t token) {
  ++seen;
  gex_AM_ReplyShort0(token, handlers[reply_in], 0);
}
void ask_own(gex_Token_t token) {
  gex_AM_ReplyShort0(token, handlers[reply_in], 0);
}
void reply(gex_Token_t) {
  ++replies_seen;
}

Count settle_requests;
Count settle_replies;
void settle(gex_Token_t token) {
  ++settle_requests;
  gex_AM_ReplyShort0(token, handlers[settled_in], 0);
}
void settled(gex_Token_t) {
  ++settle_replies;
}

void take_payload(gex_Token_t, void*, std::size_t) {
  ++payloads_seen;
}

void take_long(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
  EXPECT_EQ(payload, ends(From::client).own());
  EXPECT_TRUE(holds(payload, static_cast<std::uint64_t>(seed), bytes));
  ++replies_seen;
}

// What a handler may call, with other messages waiting.
void legal_calls(gex_Token_t token) {
  const long before = seen.get();
  for (int i = 0; i < 50; ++i) {
    gex_System_QueryJobRank();
    gex_System_QueryJobSize();
    gex_RankInfo_t* info = nullptr;
    gex_Rank_t count = 0;
    gex_System_QueryNbrhdInfo(&info, &count, nullptr);
    gex_System_QueryHostInfo(&info, &count, nullptr);
    gex_System_QueryMyPosition(nullptr, nullptr, nullptr, nullptr);
    gex_System_SetVerboseErrors(gex_System_GetVerboseErrors());
    gex_TM_QueryRank(team());
    gex_TM_QuerySize(team());
    gex_TM_QueryEP(team());
    gex_EP_QuerySegment(endpoint());
    gex_Client_QueryName(client());
    gex_Client_SetCData(client(), gex_Client_QueryCData(client()));
    gex_Segment_QueryAddr(segment());
    gex_AM_MaxRequestMedium(team(), next(), GEX_EVENT_NOW, 0, 3);
    gex_AM_LUBReplyLong();
    gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3);
    gex_Token_Info_t token_info{};
    gex_Token_Info(token, &token_info, GEX_TI_ALL);
    uintptr_t bytes = 0;
    gex_EP_QueryBoundSegmentNB(team(), rank(), nullptr, nullptr, &bytes, GEX_FLAG_IMMEDIATE);
    gex_HSL_Lock(&lock);
    gex_HSL_Unlock(&lock);
    EXPECT_EQ(gex_HSL_Trylock(&lock), GASNET_OK);
    gex_HSL_Unlock(&lock);
  }
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, 16, 16, nullptr, 0, 0);
  gex_AM_SrcDescAddr(sd);
  gex_AM_SrcDescSize(sd);
  gex_AM_CancelReplyMedium(sd, 0);
  EXPECT_EQ(seen.get(), before) << "a handler ran above a handler";
  ++replies_seen;
}

Handlers handlers({
    entry(notify, short_request, 0, "polling: notify"),
    entry(ask, short_request, 0, "polling: ask"),
    entry(reply, short_reply, 0, "polling: reply"),
    entry(legal_calls, short_request, 0, "polling: legal calls"),
    entry(take_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, "polling: payload"),
    entry(settle, short_request, 0, "polling: settle"),
    entry(settled, short_reply, 0, "polling: settled"),
    entry(ask_own, short_request, 0, "polling: ask oneself"),
});

/// Sleeps for the time in which a message that `sender` has sent reaches the caller's queue:
/// through shared memory it is there, and a network has had it for as long as it needs.
void await_arrival(gex_Rank_t sender) {
  if (!in_neighborhood(sender)) usleep(20000);
}

// What one sends to oneself is not waiting for a poll.
const NeedsPeers needs_peers("Polling");

class Polling : public testing::Test {
 protected:
  void SetUp() override {
    seen.reset();
    replies_seen.reset();
    payloads_seen.reset();
    barrier();
  }

  /// A message from previous() lies in this rank's queue, and nothing has run it yet. To next()
  /// there is all the room that a network has, but for that of such a message: what was sent before
  /// is accounted for in the answer to a request behind it.
  void let_one_arrive() {
    StillBarrier still;
    static long rounds = 0;
    ++rounds;
    gex_AM_RequestShort0(team(), next(), handlers[settle_in], 0);
    WAIT_UNTIL(settle_requests.get() >= rounds && settle_replies.get() >= rounds);
    // The rank that left the last barrier first must not send to one that still polls in it.
    still.arrive();
    // Another request may poll.
    while (gex_AM_RequestShort0(team(), next(), handlers[notify_in], GEX_FLAG_IMMEDIATE) != 0) {
    }
    still.arrive();
    await_arrival(previous());
    before_ = seen.get();
    EXPECT_EQ(before_, 0);
  }
  void expect_not_polled(const char* call) { EXPECT_EQ(seen.get(), before_) << call << " polled"; }

 private:
  long before_ = 0;
};

TEST_F(Polling, MessagesToOneselfDoNotPoll) {
  char payload[64] = {};
  let_one_arrive();
  for (int i = 0; i < 50; ++i) {
    gex_AM_RequestShort0(team(), rank(), handlers[ask_own_in], 0);
    expect_not_polled("gex_AM_RequestShort to oneself");
    gex_AM_RequestMedium0(team(), rank(), handlers[payload_in], payload, sizeof payload,
                          GEX_EVENT_NOW, 0);
    expect_not_polled("gex_AM_RequestMedium to oneself");
    gex_AM_RequestLong0(team(), rank(), handlers[payload_in], payload, sizeof payload,
                        own_segment(), GEX_EVENT_NOW, 0);
    expect_not_polled("gex_AM_RequestLong to oneself");
  }
  EXPECT_EQ(replies_seen.get(), 50);
  EXPECT_EQ(payloads_seen.get(), 100);
  WAIT_UNTIL(seen.get() == 1);
}

TEST_F(Polling, TestsQueriesAndLocksDoNotPoll) {
  gex_HSL_t hsl = GEX_HSL_INITIALIZER;
  gex_Event_t array[2] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  let_one_arrive();
  for (int i = 0; i < 200; ++i) {
    gex_Event_Test(GEX_EVENT_INVALID);
    expect_not_polled("gex_Event_Test");
    gex_Event_TestSome(array, 2, 0);
    expect_not_polled("gex_Event_TestSome");
    gex_Event_TestAll(array, 2, 0);
    expect_not_polled("gex_Event_TestAll");
    gex_NBI_Test(GEX_EC_ALL, 0);
    expect_not_polled("gex_NBI_Test");
    gex_NBI_BeginAccessRegion(0);
    gex_Event_Test(gex_NBI_EndAccessRegion(0));
    expect_not_polled("access region");
    gex_HSL_Lock(&hsl);
    gex_HSL_Unlock(&hsl);
    if (gex_HSL_Trylock(&hsl) == GASNET_OK) gex_HSL_Unlock(&hsl);
    expect_not_polled("HSL");
    gex_AM_MaxReplyLong(team(), next(), nullptr, 0, 16);
    gex_TM_QuerySize(team());
    gex_System_QueryMaxThreads();
    expect_not_polled("query");
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(team(), next(), nullptr, 8, 8, nullptr, GEX_FLAG_IMMEDIATE, 0);
    expect_not_polled("gex_AM_PrepareRequestMedium with GEX_FLAG_IMMEDIATE");
    if (sd != GEX_AM_SRCDESC_NO_OP) gex_AM_CancelRequestMedium(sd, 0);
    expect_not_polled("gex_AM_CancelRequestMedium");
  }
  WAIT_UNTIL(seen.get() == 1);
}

TEST_F(Polling, TestOfAPendingEventDoesNotPoll) {
  let_one_arrive();
  const gex_Event_t event = gex_Coll_BarrierNB(team(), 0);
  bool done = false;
  for (int i = 0; i < 1000 && !done; ++i) {
    done = gex_Event_Test(event) == GASNET_OK;
    expect_not_polled("gex_Event_Test of a pending event");
  }
  if (!done) gex_Event_Wait(event);
  WAIT_UNTIL(seen.get() == 1);
}

TEST_F(Polling, ImmediateCallsDoNotPoll) {
  let_one_arrive();
  long sent = 0;
  char byte = 0;
  for (int i = 0; i < 100; ++i) {
    if (gex_AM_RequestShort0(team(), next(), handlers[notify_in], GEX_FLAG_IMMEDIATE) == 0) ++sent;
    expect_not_polled("gex_AM_RequestShort with GEX_FLAG_IMMEDIATE");
    gex_RMA_PutNBI(team(), next(), segment_of(next()) + rank(), &byte, 1, GEX_EVENT_DEFER,
                   GEX_FLAG_IMMEDIATE);
    expect_not_polled("gex_RMA_PutNBI with GEX_FLAG_IMMEDIATE");
    // Not even for the source that is to be reusable on return.
    gex_RMA_PutNBI(team(), next(), segment_of(next()) + rank(), &byte, 1, GEX_EVENT_NOW,
                   GEX_FLAG_IMMEDIATE);
    expect_not_polled("gex_RMA_PutNBI with GEX_FLAG_IMMEDIATE and GEX_EVENT_NOW");
    gex_RMA_PutNBIVal(team(), next(), segment_of(next()) + rank(), 0, 1, GEX_FLAG_IMMEDIATE);
    expect_not_polled("gex_RMA_PutNBIVal with GEX_FLAG_IMMEDIATE");
    const gex_Event_t get =
        gex_RMA_GetNB(team(), &byte, next(), segment_of(next()), 1, GEX_FLAG_IMMEDIATE);
    expect_not_polled("gex_RMA_GetNB with GEX_FLAG_IMMEDIATE");
    if (get != GEX_EVENT_NO_OP) {
      gex_Event_Wait(get);
      break;
    }
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  const std::vector<long> all = gather(sent);
  WAIT_UNTIL(seen.get() == all[previous()] + 1);
}

// Large ones are made of many messages, more than a network takes at once.
TEST_F(Polling, ImmediateTransfersOfAnySizeDoNotPoll) {
  constexpr std::size_t bytes = std::size_t{2} << 20;
  fill(own_segment() + bytes, rank(), bytes);
  const std::vector<std::byte> source = patterned(1000 + rank(), bytes);
  std::vector<std::byte> back(bytes), implicit_back(bytes);
  barrier();
  let_one_arrive();
  const gex_Event_t put = gex_RMA_PutNB(team(), next(), segment_of(next()), source.data(), bytes,
                                        GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE);
  expect_not_polled("gex_RMA_PutNB with GEX_FLAG_IMMEDIATE");
  const gex_Event_t get = gex_RMA_GetNB(team(), back.data(), next(), segment_of(next()) + bytes,
                                        bytes, GEX_FLAG_IMMEDIATE);
  expect_not_polled("gex_RMA_GetNB with GEX_FLAG_IMMEDIATE");
  const bool implicit_got =
      gex_RMA_GetNBI(team(), implicit_back.data(), next(), segment_of(next()) + bytes, bytes,
                     GEX_FLAG_IMMEDIATE) == 0;
  expect_not_polled("gex_RMA_GetNBI with GEX_FLAG_IMMEDIATE");
  std::vector<std::byte> reused = source;
  // Equal bytes to the same place.
  const gex_Event_t put_now = gex_RMA_PutNB(team(), next(), segment_of(next()), reused.data(),
                                            bytes, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
  std::memset(reused.data(), 0, bytes);
  expect_not_polled("gex_RMA_PutNB with GEX_FLAG_IMMEDIATE and GEX_EVENT_NOW");
  if (put != GEX_EVENT_NO_OP) gex_Event_Wait(put);
  if (put_now != GEX_EVENT_NO_OP) gex_Event_Wait(put_now);
  if (get != GEX_EVENT_NO_OP) gex_Event_Wait(get);
  gex_NBI_Wait(GEX_EC_GET, 0);
  barrier();
  const bool any_put = put != GEX_EVENT_NO_OP || put_now != GEX_EVENT_NO_OP;
  const std::vector<char> was_put = gather(static_cast<char>(any_put));
  if (was_put[previous()] != 0) {
    EXPECT_TRUE(holds(own_segment(), 1000 + previous(), bytes));
  }
  if (get != GEX_EVENT_NO_OP) {
    EXPECT_TRUE(holds(back.data(), next(), bytes));
  }
  if (implicit_got) {
    EXPECT_TRUE(holds(implicit_back.data(), next(), bytes));
  }
  WAIT_UNTIL(seen.get() == 1);
}

TEST_F(Polling, ImmediateStridedTransfersOfAnySizeDoNotPoll) {
  constexpr std::size_t elements = std::size_t{64} << 10;
  constexpr std::size_t bytes = 8 * elements;
  const std::size_t count[] = {elements};
  const std::ptrdiff_t spread[] = {16};
  const std::ptrdiff_t dense[] = {8};
  std::byte* const put_to = segment_of(next());
  std::byte* const get_from = segment_of(next()) + 2 * bytes;
  for (std::size_t i = 0; i < elements; ++i)
    fill(own_segment() + 2 * bytes + 16 * i, rank() + i, 8);
  std::vector<std::byte> source = patterned(1000 + rank(), bytes);
  std::vector<std::byte> back(bytes), listed(bytes);
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < elements; ++i) addresses.push_back(get_from + 16 * i);
  void* const to = listed.data();
  barrier();
  let_one_arrive();
  const gex_Event_t put =
      gex_VIS_StridedPutNB(team(), next(), put_to, spread, source.data(), dense, 8, count, 1,
                           GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC);
  expect_not_polled("gex_VIS_StridedPutNB with GEX_FLAG_IMMEDIATE");
  const gex_Event_t get = gex_VIS_StridedGetNB(team(), back.data(), dense, next(), get_from, spread,
                                               8, count, 1, GEX_FLAG_IMMEDIATE);
  expect_not_polled("gex_VIS_StridedGetNB with GEX_FLAG_IMMEDIATE");
  const gex_Event_t indexed = gex_VIS_IndexedGetNB(team(), 1, &to, bytes, next(), addresses.size(),
                                                   addresses.data(), 8, GEX_FLAG_IMMEDIATE);
  expect_not_polled("gex_VIS_IndexedGetNB with GEX_FLAG_IMMEDIATE");
  if (put != GEX_EVENT_NO_OP) {
    gex_Event_Wait(gex_Event_QueryLeaf(put, GEX_EC_LC));
    std::fill(source.begin(), source.end(), std::byte{0});
    gex_Event_Wait(put);
  }
  if (get != GEX_EVENT_NO_OP) gex_Event_Wait(get);
  if (indexed != GEX_EVENT_NO_OP) gex_Event_Wait(indexed);
  const std::vector<char> was_put = gather(static_cast<char>(put != GEX_EVENT_NO_OP));
  const std::vector<std::byte> theirs = patterned(1000 + previous(), bytes);
  for (std::size_t i = 0; i < elements; ++i) {
    if (was_put[previous()] != 0) {
      ASSERT_TRUE(same_bytes(own_segment() + 16 * i, theirs.data() + 8 * i, 8)) << i;
    }
    if (get != GEX_EVENT_NO_OP) {
      ASSERT_TRUE(holds(back.data() + 8 * i, next() + i, 8)) << i;
    }
    if (indexed != GEX_EVENT_NO_OP) {
      ASSERT_TRUE(holds(listed.data() + 8 * i, next() + i, 8)) << i;
    }
  }
  WAIT_UNTIL(seen.get() == 1);
}

TEST_F(Polling, ImmediateAtomicsAndStridedPutsDoNotPoll) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, team(), GEX_DT_U64, GEX_OP_FADD, 0);
  const std::size_t count[] = {30};
  const std::ptrdiff_t spread[] = {16};
  const std::ptrdiff_t dense[] = {8};
  std::uint64_t source[30] = {};
  std::uint64_t fetched = 0;
  let_one_arrive();
  for (int i = 0; i < 50; ++i) {
    gex_AD_OpNBI_U64(ad, &fetched, next(), segment_of(next()), GEX_OP_FADD, 1, 0,
                     GEX_FLAG_IMMEDIATE);
    expect_not_polled("gex_AD_OpNBI_U64 with GEX_FLAG_IMMEDIATE");
    gex_VIS_StridedPutNBI(team(), next(), segment_of(next()) + 64, spread, source, dense, 8, count,
                          1, GEX_FLAG_IMMEDIATE);
    expect_not_polled("gex_VIS_StridedPutNBI with GEX_FLAG_IMMEDIATE");
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  WAIT_UNTIL(seen.get() == 1);
  barrier();
  gex_AD_Destroy(ad);
}

// Memory that neighbors reach by messages only: the payload cannot be copied there in the call.
TEST_F(Polling, ImmediateLongsIntoMemoryOfTheClientDoNotPoll) {
  static const int registered = [] {
    gex_AM_Entry_t long_entry = {long_in, handler(take_long), long_request, 1,
                                 nullptr, "polling: long"};
    return gex_EP_RegisterHandlers(ends(From::client).endpoint, &long_entry, 1);
  }();
  ASSERT_EQ(registered, GASNET_OK);
  const gex_TM_t pair = gex_TM_Pair(endpoint(), ends(From::client).index);
  const std::size_t bytes = std::min<std::size_t>(
      200000, gex_AM_MaxRequestLong(pair, next(), GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, 1));
  const std::vector<std::byte> source = patterned(70, bytes);
  barrier();
  let_one_arrive();
  long sent = 0;
  std::byte* const to = ends(From::client).segments[next()];
  for (int i = 0; i < 100; ++i) {
    if (gex_AM_RequestLong1(pair, next(), long_in, source.data(), bytes, to, GEX_EVENT_NOW,
                            GEX_FLAG_IMMEDIATE, 70) == 0)
      ++sent;
    expect_not_polled("gex_AM_RequestLong with GEX_FLAG_IMMEDIATE");
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(pair, next(), source.data(), bytes, bytes, to,
                                                    GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, 1);
    expect_not_polled("gex_AM_PrepareRequestLong with GEX_FLAG_IMMEDIATE");
    if (sd == GEX_AM_SRCDESC_NO_OP) continue;
    if (gex_AM_CommitRequestLong1_v2(sd, long_in, bytes, to, GEX_FLAG_IMMEDIATE, 70) == 0)
      ++sent;
    else
      gex_AM_CancelRequestLong(sd, 0);
    expect_not_polled("gex_AM_CommitRequestLong_v2 with GEX_FLAG_IMMEDIATE");
  }
  EXPECT_GT(sent, 0);
  const std::vector<long> all = gather(sent);
  WAIT_UNTIL(seen.get() == 1 && replies_seen.get() == all[previous()]);
}

TEST_F(Polling, WhatHandlersMayCallDoesNotPoll) {
  // Several messages for the handler's calls to run, if they did.
  for (int i = 0; i < 5; ++i) gex_AM_RequestShort0(team(), next(), handlers[notify_in], 0);
  gex_AM_RequestShort0(team(), next(), handlers[legal_in], 0);
  for (int i = 0; i < 5; ++i) gex_AM_RequestShort0(team(), next(), handlers[notify_in], 0);
  if (size() > 1) usleep(20000);
  WAIT_UNTIL(seen.get() == 10 && replies_seen.get() == 1);
}

/// A request to next() whose payload is built in a buffer of the client or of the library.
struct Negotiated {
  bool is_long;
  bool own_buffer;

  static constexpr std::size_t bytes = 64;

  gex_AM_SrcDesc_t prepare(gex_Flags_t flags) const {
    static char buffer[bytes];
    const void* const from = own_buffer ? buffer : nullptr;
    gex_Event_t* const completion = own_buffer ? GEX_EVENT_NOW : nullptr;
    return is_long ? gex_AM_PrepareRequestLong(team(), next(), from, bytes, bytes,
                                               segment_of(next()), completion, flags, 0)
                   : gex_AM_PrepareRequestMedium(team(), next(), from, bytes, bytes, completion,
                                                 flags, 0);
  }
  int commit(gex_AM_SrcDesc_t sd, gex_Flags_t flags) const {
    return is_long ? gex_AM_CommitRequestLong0_v2(sd, handlers[payload_in], bytes,
                                                  segment_of(next()), flags)
                   : gex_AM_CommitRequestMedium0_v2(sd, handlers[payload_in], bytes, flags);
  }
  void cancel(gex_AM_SrcDesc_t sd) const {
    EXPECT_EQ(is_long ? gex_AM_CancelRequestLong(sd, 0) : gex_AM_CancelRequestMedium(sd, 0),
              GASNET_OK);
  }
};

/// The client's calls between Prepare and Commit.
void build_payload(gex_AM_SrcDesc_t sd) {
  for (int i = 0; i < 100; ++i) {
    std::memset(gex_AM_SrcDescAddr(sd), i, gex_AM_SrcDescSize(sd));
    gex_HSL_Lock(&lock);
    gex_HSL_Unlock(&lock);
  }
}

// Between Prepare and Commit the thread is in handler context: nothing may run, though there is a
// message to run. One that is there already only an immediate Prepare leaves where it is.
TEST_F(Polling, NothingRunsBetweenAnImmediatePrepareAndCommit) {
  for (const bool is_long : {false, true}) {
    let_one_arrive();
    for (const bool own_buffer : {false, true}) {
      const Negotiated message{is_long, own_buffer};
      const gex_AM_SrcDesc_t sd = message.prepare(GEX_FLAG_IMMEDIATE);
      expect_not_polled("Prepare with GEX_FLAG_IMMEDIATE");
      ASSERT_NE(sd, GEX_AM_SRCDESC_NO_OP) << "with next to nothing in flight";
      build_payload(sd);
      expect_not_polled("what is allowed between Prepare and Cancel");
      message.cancel(sd);
      expect_not_polled("Cancel");
    }
    const Negotiated message{is_long, false};
    const gex_AM_SrcDesc_t sd = message.prepare(GEX_FLAG_IMMEDIATE);
    ASSERT_NE(sd, GEX_AM_SRCDESC_NO_OP) << "with next to nothing in flight";
    build_payload(sd);
    expect_not_polled("what is allowed between Prepare and Commit");
    const bool committed = message.commit(sd, GEX_FLAG_IMMEDIATE) == 0;
    if (!committed) message.cancel(sd);
    expect_not_polled("Commit with GEX_FLAG_IMMEDIATE");
    const std::vector<char> all = gather(static_cast<char>(committed));
    WAIT_UNTIL(seen.get() == 1 && payloads_seen.get() == all[previous()]);
    seen.reset();
    payloads_seen.reset();
  }
}

// Any Prepare, which may poll: the message is sent once the descriptor is open. Ranks go in pairs
// and take turns, since a rank with an open descriptor may not send. A rank without a partner is
// notified nothing.
TEST_F(Polling, NothingRunsWhileADescriptorIsOpen) {
  const gex_Rank_t partner = rank() ^ 1;
  for (const Negotiated message : {Negotiated{false, true}, Negotiated{true, false}}) {
    for (const gex_Rank_t turn : {0, 1}) {
      const bool opens = rank() % 2 == turn;
      StillBarrier still;
      gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
      if (opens) sd = message.prepare(0);
      still.arrive();
      if (!opens && partner < size()) {
        gex_AM_RequestShort0(team(), partner, handlers[notify_in], 0);
      }
      still.arrive();
      if (opens) {
        if (partner < size()) await_arrival(partner);
        build_payload(sd);
        expect_not_polled("what is allowed while a descriptor is open");
        if (message.is_long) {
          message.cancel(sd);
          expect_not_polled("Cancel");
        } else {
          EXPECT_EQ(message.commit(sd, 0), 0);
        }
        if (partner < size()) WAIT_UNTIL(seen.get() == 1);
      }
      barrier();
      if (!message.is_long) {
        const std::vector<char> all = gather(static_cast<char>(opens));
        WAIT_UNTIL(payloads_seen.get() == all[previous()]);
      }
      seen.reset();
      payloads_seen.reset();
    }
  }
}

/// Rank 0 makes the call under test and nothing else; the others need it to serve them first.
template <typename Start, typename Finish>
void rank_zero_serves(Start start, Finish finish) {
  if (rank() != 0) {
    gex_AM_RequestShort0(team(), 0, handlers[ask_in], 0);
    WAIT_UNTIL(replies_seen.get() == 1);
  }
  start();
  finish();
  if (rank() == 0) {
    EXPECT_EQ(seen.get(), static_cast<long>(size()) - 1);
  }
}

TEST_F(Polling, EventWaitPolls) {
  gex_Event_t event = GEX_EVENT_INVALID;
  rank_zero_serves([&] { event = gex_Coll_BarrierNB(team(), 0); }, [&] { gex_Event_Wait(event); });
}
TEST_F(Polling, EventWaitSomePolls) {
  gex_Event_t event = GEX_EVENT_INVALID;
  rank_zero_serves([&] { event = gex_Coll_BarrierNB(team(), 0); },
                   [&] { gex_Event_WaitSome(&event, 1, 0); });
}
TEST_F(Polling, EventWaitAllPolls) {
  gex_Event_t event = GEX_EVENT_INVALID;
  rank_zero_serves([&] { event = gex_Coll_BarrierNB(team(), 0); },
                   [&] { gex_Event_WaitAll(&event, 1, 0); });
}
TEST_F(Polling, BarrierWaitPolls) {
  rank_zero_serves([] { gasnet_barrier_notify(3, 0); },
                   [] { EXPECT_EQ(gasnet_barrier_wait(3, 0), GASNET_OK); });
}
TEST_F(Polling, BarrierTryPolls) {
  const Patience patience;
  rank_zero_serves([] { gasnet_barrier_notify(3, 0); },
                   [&] {
                     int status = GASNET_ERR_NOT_READY;
                     while (status == GASNET_ERR_NOT_READY && !patience.over()) {
                       status = gasnet_barrier_try(3, 0);
                     }
                     EXPECT_EQ(status, GASNET_OK);
                   });
}
TEST_F(Polling, AMPollPolls) {
  gex_Event_t event = GEX_EVENT_INVALID;
  rank_zero_serves(
      [&] {
        const Patience patience;
        const long asked = rank() == 0 ? static_cast<long>(size()) - 1 : 0;
        while (seen.get() < asked && !patience.over()) EXPECT_EQ(gasnet_AMPoll(), GASNET_OK);
        event = gex_Coll_BarrierNB(team(), 0);
      },
      [&] { gex_Event_Wait(event); });
}

}  // namespace
}  // namespace conformance::polling_test
