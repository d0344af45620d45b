// Segments: attach, queries, publication.

#include <cstring>

#include "transfer.h"

namespace conformance::segment_test {
namespace {

/// Answers that handlers got when they asked with GEX_FLAG_IMMEDIATE.
struct Answer {
  void* owner;
  uintptr_t bytes;
  bool answered;
};
volatile bool asked = false;
Answer own_answer, peer_answer;
Answer ask_immediately(gex_Rank_t whom) {
  Answer answer{nullptr, 0, false};
  const gex_Event_t event = gex_EP_QueryBoundSegmentNB(team(), whom, &answer.owner, nullptr,
                                                       &answer.bytes, GEX_FLAG_IMMEDIATE);
  answer.answered = event == GEX_EVENT_INVALID;
  return answer;
}
void ask_in_handler(gex_Token_t) {
  own_answer = ask_immediately(rank());
  peer_answer = ask_immediately(next());
  asked = true;
}
const Handlers handlers({{0, handler(ask_in_handler), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
                          nullptr, "ask_in_handler"}});

TEST(Segment, AnswersWhatItWasMadeWith) {
  EXPECT_EQ(gex_Segment_QueryClient(segment()), client());
  EXPECT_EQ(gex_Segment_QueryFlags(segment()), 0U);
  EXPECT_EQ(gex_Segment_QueryAddr(segment()), own_segment());
  EXPECT_GE(gex_Segment_QuerySize(segment()), segment_bytes);
  EXPECT_EQ(gex_Segment_QuerySize(segment()) % GASNET_PAGESIZE, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(own_segment()) % GASNET_PAGESIZE, 0U);
}

TEST(Segment, IsWithinTheLimits) {
  EXPECT_LE(gex_Segment_QuerySize(segment()), gasnet_getMaxLocalSegmentSize());
  EXPECT_LE(gasnet_getMaxGlobalSegmentSize(), gasnet_getMaxLocalSegmentSize());
  EXPECT_GT(gasnet_getMaxGlobalSegmentSize(), 0U);
  const std::vector<std::uintptr_t> global = gather(gasnet_getMaxGlobalSegmentSize());
  const std::vector<std::uintptr_t> local = gather(gasnet_getMaxLocalSegmentSize());
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    EXPECT_EQ(global[peer], global[0]) << "the global limit is one";
    EXPECT_LE(global[peer], local[peer]);
  }
}

TEST(BoundSegment, OfEveryRankIsItsOwners) {
  struct Own {
    void* address;
    std::uintptr_t bytes;
  };
  const std::vector<Own> owners =
      gather(Own{gex_Segment_QueryAddr(segment()), gex_Segment_QuerySize(segment())});
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    void* owner = nullptr;
    void* local = &owner;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), peer, &owner, &local, &bytes, 0));
    EXPECT_EQ(owner, owners[peer].address);
    EXPECT_EQ(bytes, owners[peer].bytes);
    EXPECT_EQ(local != nullptr, in_neighborhood(peer));
    if (peer == rank()) {
      EXPECT_EQ(local, owner);
    }
    void* older_owner = nullptr;
    void* older_local = &owner;
    uintptr_t older_bytes = 0;
    EXPECT_EQ(gex_Segment_QueryBound(team(), peer, &older_owner, &older_local, &older_bytes), 0);
    EXPECT_EQ(older_owner, owner);
    EXPECT_EQ(older_local, local);
    EXPECT_EQ(older_bytes, bytes);
  }
}

TEST(BoundSegment, OutputsMayBeNull) {
  uintptr_t bytes = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), next(), nullptr, nullptr, nullptr, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), next(), nullptr, nullptr, &bytes, 0));
  EXPECT_GE(bytes, segment_bytes);
  EXPECT_EQ(gex_Segment_QueryBound(team(), next(), nullptr, nullptr, nullptr), 0);
}

TEST(BoundSegment, LocalAddressesReachTheOwnersBytes) {
  std::memset(own_segment(), 0, 4096);
  own_segment()[17] = static_cast<std::byte>(rank() + 1);
  barrier();
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    void* local = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), peer, nullptr, &local, nullptr, 0));
    if (local == nullptr) continue;
    EXPECT_EQ(static_cast<std::byte*>(local)[17], static_cast<std::byte>(peer + 1));
    static_cast<std::byte*>(local)[64 + rank()] = static_cast<std::byte>(rank() + 1);
  }
  barrier();
  for (gex_Rank_t peer = 0; peer < size(); ++peer)
    EXPECT_EQ(own_segment()[64 + peer],
              in_neighborhood(peer) ? static_cast<std::byte>(peer + 1) : std::byte{0});
}

TEST(BoundSegment, ImmediateIsLegalInHandlersAndAlwaysAnswersForOneself) {
  asked = false;
  barrier();
  gex_AM_RequestShort(team(), next(), handlers[0], 0);
  WAIT_UNTIL(asked);
  EXPECT_TRUE(own_answer.answered);
  EXPECT_EQ(own_answer.owner, own_segment());
  EXPECT_GE(own_answer.bytes, segment_bytes);
  if (peer_answer.answered) {
    EXPECT_EQ(peer_answer.owner, segment_of(next()));
    EXPECT_GE(peer_answer.bytes, segment_bytes);
  }
  const Answer outside = ask_immediately(rank());
  EXPECT_TRUE(outside.answered);
  EXPECT_EQ(outside.owner, own_segment());
}

TEST(Publish, AgainChangesNothing) {
  gex_EP_t endpoints[1] = {endpoint()};
  for (int i = 0; i < 3; ++i) {
    // Not every rank need name an endpoint.
    const bool names = i == 0 || rank() % 2 == static_cast<gex_Rank_t>(i % 2);
    EXPECT_EQ(gex_EP_PublishBoundSegment(team(), names ? endpoints : nullptr, names ? 1 : 0, 0),
              GASNET_OK);
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      void* owner = nullptr;
      uintptr_t bytes = 0;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), peer, &owner, nullptr, &bytes, 0));
      EXPECT_EQ(owner, segment_of(peer));
      EXPECT_GE(bytes, segment_bytes);
    }
    const std::uint64_t value = 100 * i + rank();
    gex_RMA_PutBlocking(team(), next(), segment_of(next()), &value, 8, 0);
    barrier();
    EXPECT_EQ(look_at<std::uint64_t>(own_segment()), std::uint64_t{100} * i + previous());
    barrier();
  }
}

TEST(Publish, OverASmallerTeam) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, team(), static_cast<int>(rank() % 2), 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_EP_t endpoints[1] = {endpoint()};
  EXPECT_EQ(gex_EP_PublishBoundSegment(tm, endpoints, 1, 0), GASNET_OK);
  const auto after = static_cast<gex_Rank_t>((gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm));
  const gex_Rank_t jobrank = gex_TM_TranslateRankToJobrank(tm, after);
  const std::vector<std::byte> source = patterned(rank(), 2000);
  gex_RMA_PutBlocking(tm, after, segment_of(jobrank), source.data(), 2000, 0);
  std::vector<std::byte> back(2000);
  gex_RMA_GetBlocking(team(), back.data(), jobrank, segment_of(jobrank), 2000, 0);
  EXPECT_TRUE(same_bytes(back.data(), source.data(), 2000));
  gex_TM_Destroy(tm, nullptr, 0);
}

}  // namespace
}  // namespace conformance::segment_test
