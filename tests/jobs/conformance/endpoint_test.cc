// Created endpoints and segments: queries, binding, publication, put and get, teams, barriers.

#include "endpoints.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "transfer.h"

namespace conformance::endpoint_test {
namespace {

void barrier_over(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/// The answer of (tm, rank) about its segment.
struct Bound {
  void* owner = nullptr;
  void* local = nullptr;
  uintptr_t bytes = 0;
};
Bound bound(gex_TM_t tm, gex_Rank_t whom) {
  Bound answer;
  gex_Event_Wait(
      gex_EP_QueryBoundSegmentNB(tm, whom, &answer.owner, &answer.local, &answer.bytes, 0));
  void* older = nullptr;
  EXPECT_EQ(gex_Segment_QueryBound(tm, whom, &older, nullptr, nullptr) != 0, answer.bytes == 0);
  EXPECT_EQ(older, answer.bytes == 0 ? nullptr : answer.owner);
  return answer;
}

TEST(Endpoint, CreatedOnesAnswerWhatTheyWereMadeWith) {
  EXPECT_GE(GASNET_MAXEPS, 33);
  std::vector<gex_EP_Index_t> indices = {0};
  for (const From from : {From::library, From::client}) {
    const gex_EP_t made = ends(from).endpoint;
    EXPECT_EQ(gex_EP_QueryClient(made), client());
    EXPECT_EQ(gex_EP_QueryFlags(made), 0U);
    EXPECT_EQ(gex_EP_QuerySegment(made), ends(from).segment);
    EXPECT_LT(gex_EP_QueryIndex(made), GASNET_MAXEPS);
    EXPECT_EQ(std::count(indices.begin(), indices.end(), gex_EP_QueryIndex(made)), 0);
    indices.push_back(gex_EP_QueryIndex(made));
    EXPECT_EQ(gex_EP_QueryCData(made), nullptr);
    int data = 0;
    gex_EP_SetCData(made, &data);
    EXPECT_EQ(gex_EP_QueryCData(made), &data);
    EXPECT_EQ(gex_EP_QueryCData(endpoint()), nullptr);
    gex_EP_SetCData(made, nullptr);
  }
  gex_EP_t hinted = GEX_EP_INVALID;
  ASSERT_EQ(gex_EP_Create(&hinted, client(), GEX_EP_CAPABILITY_RMA, GEX_FLAG_HINT_ACCEL_ALL),
            GASNET_OK);
  EXPECT_EQ(gex_EP_QueryFlags(hinted), GEX_FLAG_HINT_ACCEL_ALL);
  EXPECT_EQ(gex_EP_QuerySegment(hinted), GEX_SEGMENT_INVALID);
}

TEST(CreatedSegment, AnswersWhatItWasMadeWith) {
  for (const From from : {From::library, From::client}) {
    const gex_Segment_t made = ends(from).segment;
    EXPECT_EQ(gex_Segment_QueryClient(made), client());
    EXPECT_EQ(gex_Segment_QueryFlags(made), 0U);
    EXPECT_EQ(gex_Segment_QueryAddr(made), ends(from).own());
    EXPECT_EQ(gex_Segment_QuerySize(made), created_bytes);
    EXPECT_EQ(gex_Segment_QueryCData(made), nullptr);
  }
}

TEST(CreatedSegment, OfTheLibrarysMemoryIsZeroAndCanBeHadAgainAndAgain) {
  constexpr std::size_t bytes = std::size_t{3} << 20;
  for (int cycle = 0; cycle < 200; ++cycle) {
    gex_Segment_t made[2];
    for (gex_Segment_t& segment : made) {
      ASSERT_EQ(gex_Segment_Create(&segment, client(), nullptr, bytes, GEX_MK_HOST, 0), GASNET_OK);
      auto* memory = static_cast<std::byte*>(gex_Segment_QueryAddr(segment));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % GASNET_PAGESIZE, 0U);
      for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
        ASSERT_EQ(memory[at], std::byte{0});
        memory[at] = std::byte{1};
      }
    }
    EXPECT_NE(gex_Segment_QueryAddr(made[0]), gex_Segment_QueryAddr(made[1]));
    gex_Segment_Destroy(made[cycle % 2], 0);
    gex_Segment_Destroy(made[1 - cycle % 2], 0);
  }
}

// The system does not take back what is locked.
TEST(CreatedSegment, IsZeroAlsoWhereAnotherHadItsMemoryLocked) {
  constexpr std::size_t bytes = std::size_t{64} << 10;
  for (int cycle = 0; cycle < 2; ++cycle) {
    gex_Segment_t made;
    ASSERT_EQ(gex_Segment_Create(&made, client(), nullptr, bytes, GEX_MK_HOST, 0), GASNET_OK);
    auto* memory = static_cast<std::byte*>(gex_Segment_QueryAddr(made));
    ASSERT_EQ(std::count(memory, memory + bytes, std::byte{0}), std::ptrdiff_t{bytes});
    std::fill_n(memory, bytes, std::byte{7});
    ASSERT_EQ(mlock(memory, bytes), 0);
    gex_Segment_Destroy(made, 0);
  }
}

TEST(CreatedSegment, OfMoreMemoryThanThereIsIsRefusedWithItsErrorCode) {
  gex_Segment_t made = GEX_SEGMENT_INVALID;
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_Segment_Create(&made, client(), nullptr, std::uintptr_t{1} << 60, GEX_MK_HOST, 0),
            GASNET_ERR_RESOURCE);
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(made, GEX_SEGMENT_INVALID);
}

TEST(CreatedSegment, IsKnownToItsOwnerWhenBoundAndToOthersWhenPublished) {
  static const gex_EP_t made = [] {
    gex_EP_t endpoint = GEX_EP_INVALID;
    gex_EP_Create(&endpoint, client(), GEX_EP_CAPABILITY_RMA, 0);
    return endpoint;
  }();
  const gex_TM_t pair = gex_TM_Pair(endpoint(), gex_EP_QueryIndex(made));
  std::vector<std::byte> memory(5000);
  for (const bool of_client : {false, true}) {
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    ASSERT_EQ(gex_Segment_Create(&segment, client(), of_client ? memory.data() : nullptr,
                                 memory.size(), GEX_MK_HOST, 0),
              GASNET_OK);
    EXPECT_EQ(bound(pair, rank()).bytes, 0U);
    ASSERT_EQ(gex_EP_BindSegment(made, segment, 0), GASNET_OK);
    EXPECT_EQ(gex_EP_QuerySegment(made), segment);
    EXPECT_EQ(bound(pair, rank()).bytes, memory.size());
    EXPECT_EQ(bound(pair, rank()).local, gex_Segment_QueryAddr(segment));
    barrier();
    if (size() > 1) {
      EXPECT_EQ(bound(pair, next()).bytes, 0U);
    }
    barrier();
    gex_EP_t array[1] = {made};
    ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
    const std::vector<void*> owners = gather(gex_Segment_QueryAddr(segment));
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      const Bound answer = bound(pair, peer);
      EXPECT_EQ(answer.owner, owners[peer]);
      EXPECT_EQ(answer.bytes, memory.size());
      // Only what the library allocated can be in shared memory.
      if (of_client || !in_neighborhood(peer)) {
        EXPECT_EQ(answer.local, peer == rank() ? owners[peer] : nullptr);
      }
    }
    ASSERT_EQ(gex_EP_BindSegment(made, GEX_SEGMENT_INVALID, 0), GASNET_OK);
    EXPECT_EQ(gex_EP_QuerySegment(made), GEX_SEGMENT_INVALID);
    ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
    for (gex_Rank_t peer = 0; peer < size(); ++peer) EXPECT_EQ(bound(pair, peer).bytes, 0U);
    gex_Segment_Destroy(segment, 0);
  }
}

TEST(CreatedSegment, BoundAndPublishedLateIsReachedByTeamsMadeBefore) {
  static const gex_EP_t made = [] {
    gex_EP_t endpoint = GEX_EP_INVALID;
    gex_EP_Create(&endpoint, client(), GEX_EP_CAPABILITY_ALL, 0);
    return endpoint;
  }();
  gex_EP_t array[1] = {made};
  std::vector<gex_EP_Location_t> list;
  for (gex_Rank_t r = 0; r < size(); ++r) list.push_back({r, gex_EP_QueryIndex(made)});
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, team(), list.data(), list.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  // Nothing is bound: that is no error, and nothing is known afterwards.
  ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) EXPECT_EQ(bound(tm, peer).bytes, 0U);
  std::vector<std::byte> memory(3000);
  for (const bool of_client : {false, true, false}) {
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    ASSERT_EQ(gex_Segment_Create(&segment, client(), of_client ? memory.data() : nullptr,
                                 memory.size(), GEX_MK_HOST, 0),
              GASNET_OK);
    ASSERT_EQ(gex_EP_BindSegment(made, segment, 0), GASNET_OK);
    ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
    barrier();
    const std::vector<std::byte> source = patterned(rank() + (of_client ? 500 : 0), memory.size());
    ASSERT_EQ(
        gex_RMA_PutBlocking(tm, next(), bound(tm, next()).owner, source.data(), source.size(), 0),
        0);
    barrier_over(tm);
    EXPECT_TRUE(
        holds(gex_Segment_QueryAddr(segment), previous() + (of_client ? 500 : 0), memory.size()));
    barrier();
    ASSERT_EQ(gex_EP_BindSegment(made, GEX_SEGMENT_INVALID, 0), GASNET_OK);
    ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
    gex_Segment_Destroy(segment, 0);
  }
  gex_TM_Destroy(tm, nullptr, 0);
}

TEST(CreatedSegment, OfTheLibrarysMemoryIsMappedByTheNeighbors) {
  const Ends& library = ends(From::library);
  const gex_TM_t pair = gex_TM_Pair(endpoint(), library.index);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const Bound answer = bound(pair, peer);
    EXPECT_EQ(answer.owner, library.segments[peer]);
    EXPECT_EQ(answer.local != nullptr, in_neighborhood(peer));
  }
  fill(library.own(), rank(), created_bytes);
  barrier();
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    if (in_neighborhood(peer)) {
      EXPECT_TRUE(holds(bound(pair, peer).local, peer, created_bytes));
    }
  }
  barrier();
}

TEST(CreatedSegment, MayBeBoundToSeveralEndpoints) {
  static gex_EP_t made[2];
  for (gex_EP_t& endpoint : made)
    if (endpoint == GEX_EP_INVALID) {
      ASSERT_EQ(gex_EP_Create(&endpoint, client(), GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
    }
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  ASSERT_EQ(gex_Segment_Create(&segment, client(), nullptr, 4096, GEX_MK_HOST, 0), GASNET_OK);
  for (const gex_EP_t endpoint : made)
    ASSERT_EQ(gex_EP_BindSegment(endpoint, segment, 0), GASNET_OK);
  ASSERT_EQ(gex_EP_PublishBoundSegment(team(), made, 2, 0), GASNET_OK);
  const gex_TM_t first = gex_TM_Pair(endpoint(), gex_EP_QueryIndex(made[0]));
  const gex_TM_t second = gex_TM_Pair(endpoint(), gex_EP_QueryIndex(made[1]));
  gex_RMA_PutBlockingVal(first, next(), bound(first, next()).owner, 1000 + rank(), 4, 0);
  EXPECT_EQ(gex_RMA_GetBlockingVal(second, next(), bound(second, next()).owner, 4, 0),
            1000 + rank());
  barrier();
  for (const gex_EP_t endpoint : made)
    ASSERT_EQ(gex_EP_BindSegment(endpoint, GEX_SEGMENT_INVALID, 0), GASNET_OK);
  ASSERT_EQ(gex_EP_PublishBoundSegment(team(), made, 2, 0), GASNET_OK);
  gex_Segment_Destroy(segment, 0);
}

/// Puts and gets in every form between this rank and the next, whose endpoint's segment is
/// `theirs`.
void expect_transfers(gex_TM_t tm, gex_Rank_t peer, std::byte* theirs, const std::byte* own,
                      gex_Rank_t writer) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{8}, std::size_t{1000}, created_bytes}) {
    unsigned form_number = 0;
    for (const Put form : every_put) {
      const unsigned seed = 100 * ++form_number;
      const std::vector<std::byte> source = patterned(seed + rank(), bytes);
      const bool by_offset = form_number % 2 == 0;
      put(form, tm, peer, by_offset ? nullptr : theirs, source.data(), bytes,
          by_offset ? GEX_FLAG_PEER_SEG_OFFSET : 0);
      barrier();
      ASSERT_TRUE(holds(own, seed + writer, bytes)) << name(form);
      for (const Get get_form : every_get) {
        std::vector<std::byte> back(bytes);
        get(get_form, tm, back.data(), peer, theirs, bytes);
        ASSERT_TRUE(same_bytes(back.data(), source.data(), bytes)) << name(get_form);
      }
      barrier();
    }
  }
  EXPECT_EQ(gex_RMA_PutBlockingVal(tm, peer, theirs + 3, 0x1234 + rank(), 2, 0), 0);
  EXPECT_EQ(gex_RMA_GetBlockingVal(tm, peer, theirs + 3, 2, 0), 0x1234 + rank());
  barrier();
}

TEST(CreatedEndpoint, PutsAndGetsThroughPairsOfAnyTwo) {
  for (const From here : every_source) {
    for (const From there : every_source) {
      SCOPED_TRACE(std::string("from ") + name(here) + " to " + name(there));
      const Ends& theirs = ends(there);
      const gex_TM_t pair = gex_TM_Pair(ends(here).endpoint, theirs.index);
      EXPECT_EQ(gex_TM_QueryEP(pair), ends(here).endpoint);
      EXPECT_EQ(gex_TM_TranslateRankToEP(pair, next(), 0).gex_ep_index, theirs.index);
      expect_transfers(pair, next(), theirs.segments[next()], theirs.own(), previous());
    }
  }
}

TEST(CreatedEndpoint, PutsAndGetsThroughTeams) {
  for (const From from : every_source) {
    SCOPED_TRACE(name(from));
    const TeamOf members(from);
    const Ends& theirs = ends(from);
    EXPECT_EQ(gex_TM_QueryEP(members.tm()), theirs.endpoint);
    EXPECT_EQ(gex_TM_QueryRank(members.tm()), TeamOf::rank_of(rank()));
    for (gex_Rank_t r = 0; r < size(); ++r) {
      const gex_EP_Location_t location =
          gex_TM_TranslateRankToEP(members.tm(), TeamOf::rank_of(r), 0);
      EXPECT_EQ(location.gex_rank, r);
      EXPECT_EQ(location.gex_ep_index, theirs.index);
      EXPECT_EQ(bound(members.tm(), TeamOf::rank_of(r)).owner, theirs.segments[r]);
    }
    expect_transfers(members.tm(), TeamOf::rank_of(next()), theirs.segments[next()], theirs.own(),
                     previous());
    for (int i = 0; i < 20; ++i) barrier_over(members.tm());
  }
}

TEST(CreatedEndpoint, TheOwnSegmentIsThatOfTheLocalEndpoint) {
  for (const From from : every_source) {
    const Ends& local = ends(from);
    const gex_TM_t pair = gex_TM_Pair(local.endpoint, 0);
    std::memset(own_segment(), 0, 64);
    fill(local.own() + 64, 50 + rank(), 64);
    barrier();
    // From byte 64 of the local segment to byte 128 of the next rank's attached one.
    gex_RMA_PutBlocking(pair, next(), reinterpret_cast<void*>(std::uintptr_t{128}),
                        reinterpret_cast<const void*>(std::uintptr_t{64}), 64,
                        GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
    barrier();
    EXPECT_TRUE(holds(own_segment() + 128, 50 + previous(), 64)) << name(from);
    barrier();
  }
}

TEST(CreatedEndpoint, TeamsAreSplitAndMadeFromTeamsOfThem) {
  for (const From from : every_source) {
    const TeamOf parent(from);
    gex_TM_t half = GEX_TM_INVALID;
    gex_TM_Split(&half, parent.tm(), static_cast<int>(rank() % 2), static_cast<int>(rank()),
                 nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    EXPECT_EQ(gex_TM_QueryEP(half), ends(from).endpoint);
    EXPECT_EQ(gex_TM_QueryRank(half), rank() / 2);
    barrier_over(half);
    // Primordial endpoints again, named by rank in a parent without them.
    std::vector<gex_EP_Location_t> list;
    for (gex_Rank_t r = 0; r < size(); ++r) list.push_back({r, 0});
    gex_TM_t primordial = GEX_TM_INVALID;
    gex_TM_Create(&primordial, 1, parent.tm(), list.data(), list.size(), nullptr, 0,
                  GEX_FLAG_TM_NO_SCRATCH);
    EXPECT_EQ(gex_TM_QueryEP(primordial), endpoint());
    EXPECT_EQ(gex_TM_QueryRank(primordial), TeamOf::rank_of(rank()));
    barrier_over(primordial);
    gex_TM_Destroy(primordial, nullptr, 0);
    gex_TM_Destroy(half, nullptr, 0);
  }
}

// Teams with several members in each process

/// Starts a barrier as each local member and waits for all.
void barrier_of(const AllRanks& all_ranks) {
  std::vector<gex_Event_t> events;
  for (const From from : every_source) events.push_back(gex_Coll_BarrierNB(all_ranks.tm(from), 0));
  gex_Event_WaitAll(events.data(), events.size(), 0);
}

TEST(SeveralLocalMembers, AnswerAsThemselves) {
  const AllRanks all_ranks;
  for (const From from : every_source) {
    const gex_TM_t tm = all_ranks.tm(from);
    ASSERT_NE(tm, GEX_TM_INVALID);
    EXPECT_EQ(gex_TM_QuerySize(tm), every_source.size() * size());
    EXPECT_EQ(gex_TM_QueryRank(tm), AllRanks::rank_of(from, rank()));
    EXPECT_EQ(gex_TM_QueryEP(tm), ends(from).endpoint);
    EXPECT_EQ(gex_TM_QueryCData(tm), nullptr);
    for (const From other : every_source) {
      EXPECT_EQ(tm == all_ranks.tm(other), from == other);
      for (gex_Rank_t r = 0; r < size(); ++r) {
        const gex_Rank_t member = AllRanks::rank_of(other, r);
        EXPECT_EQ(gex_TM_TranslateRankToJobrank(tm, member), r);
        EXPECT_EQ(gex_TM_TranslateRankToEP(tm, member, 0).gex_ep_index, ends(other).index);
        EXPECT_EQ(bound(tm, member).owner, ends(other).segments[r]);
      }
    }
    for (gex_Rank_t r = 0; r < size(); ++r)
      EXPECT_EQ(gex_TM_TranslateJobrankToRank(tm, r) % size(), r);
  }
}

TEST(SeveralLocalMembers, ReachOneAnother) {
  const AllRanks all_ranks;
  for (const From here : every_source) {
    for (const From there : every_source) {
      const auto seed = 10 * static_cast<unsigned>(here) + static_cast<unsigned>(there);
      const gex_Rank_t member = AllRanks::rank_of(there, next());
      const std::vector<std::byte> source = patterned(seed + 100 * rank(), 70'000);
      put(Put::nb_leaf, all_ranks.tm(here), member, ends(there).segments[next()], source.data(),
          source.size());
      barrier_of(all_ranks);
      EXPECT_TRUE(holds(ends(there).own(), seed + 100 * previous(), source.size()))
          << name(here) << " to " << name(there);
      std::vector<std::byte> back(source.size());
      get(Get::nbi, all_ranks.tm(here), back.data(), member, ends(there).segments[next()],
          back.size());
      EXPECT_TRUE(same_bytes(back.data(), source.data(), back.size()));
      barrier_of(all_ranks);
    }
  }
}

TEST(SeveralLocalMembers, BarriersWaitForEachOfThem) {
  const AllRanks all_ranks;
  // One's event is not complete before the others have started theirs.
  gex_Event_t first = gex_Coll_BarrierNB(all_ranks.tm(From::client), 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(gex_Event_Test(first), GASNET_ERR_NOT_READY);
    gasnet_AMPoll();
  }
  gex_Event_t rest[2] = {gex_Coll_BarrierNB(all_ranks.tm(From::attached), 0),
                         gex_Coll_BarrierNB(all_ranks.tm(From::library), 0)};
  gex_Event_WaitAll(rest, 2, 0);
  gex_Event_Wait(first);
  // Many in flight, waited for backwards.
  std::vector<gex_Event_t> events;
  for (int i = 0; i < 20; ++i)
    for (const From from : every_source)
      events.push_back(gex_Coll_BarrierNB(all_ranks.tm(from), 0));
  std::reverse(events.begin(), events.end());
  for (const gex_Event_t event : events) gex_Event_Wait(event);
}

TEST(SeveralLocalMembers, EachHasItsScratchInItsSegment) {
  AllRanks all_ranks(/*with_scratch=*/true);
  barrier_of(all_ranks);
  barrier();
  for (const From from : every_source) {
    gex_Memvec_t returned{nullptr, 0};
    EXPECT_NE(gex_TM_Destroy(all_ranks.tm(from), &returned, GEX_FLAG_GLOBALLY_QUIESCED), 0);
    EXPECT_EQ(returned.gex_addr, AllRanks::scratch_of(from));
    EXPECT_EQ(returned.gex_len, AllRanks::scratch_bytes);
  }
  all_ranks.forget();
}

TEST_IN_PAR(SeveralLocalMembers, MakeBlockingCollectiveCallsFromAThreadEach) {
  const AllRanks all_ranks;
  std::vector<std::thread> threads;
  for (const From from : every_source)
    threads.emplace_back([&all_ranks, from] {
      for (int round = 0; round < 5; ++round) {
        // One team of each kind, and one of all, turned around.
        gex_TM_t kind = GEX_TM_INVALID;
        gex_TM_t all = GEX_TM_INVALID;
        gex_TM_Split(&kind, all_ranks.tm(from), static_cast<int>(from), 0, nullptr, 0,
                     GEX_FLAG_TM_NO_SCRATCH);
        gex_TM_Split(&all, all_ranks.tm(from), 0,
                     -static_cast<int>(gex_TM_QueryRank(all_ranks.tm(from))), nullptr, 0,
                     GEX_FLAG_TM_NO_SCRATCH);
        EXPECT_EQ(gex_TM_QuerySize(kind), size());
        EXPECT_EQ(gex_TM_QueryRank(kind), rank());
        EXPECT_EQ(gex_TM_QueryEP(kind), ends(from).endpoint);
        EXPECT_EQ(gex_TM_QueryRank(all),
                  gex_TM_QuerySize(all) - 1 - AllRanks::rank_of(from, rank()));
        barrier_over(kind);
        barrier_over(all);
        gex_TM_Destroy(all, nullptr, 0);
        gex_TM_Destroy(kind, nullptr, 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(SeveralLocalMembers, OfSomeProcessesOnly) {
  // Both endpoints of rank 0, one of each other.
  std::vector<gex_EP_Location_t> list = {{0, ends(From::client).index}};
  for (gex_Rank_t r = 0; r < size(); ++r) list.push_back({r, ends(From::library).index});
  gex_TM_t tms[2] = {GEX_TM_INVALID, GEX_TM_INVALID};
  const std::size_t own = rank() == 0 ? 2 : 1;
  gex_TM_Create(tms, own, team(), list.data(), list.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  std::vector<gex_Event_t> events;
  for (std::size_t i = 0; i < own; ++i) {
    EXPECT_EQ(gex_TM_QuerySize(tms[i]), size() + 1);
    EXPECT_EQ(gex_TM_QueryRank(tms[i]), rank() == 0 ? i : rank() + 1);
    events.push_back(gex_Coll_BarrierNB(tms[i], 0));
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  barrier();
  for (std::size_t i = 0; i < own; ++i) gex_TM_Destroy(tms[i], nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
}

}  // namespace
}  // namespace conformance::endpoint_test
