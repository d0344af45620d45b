// Barriers: of teams, any number in flight; and the named one of GASNet-1.

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "still_barrier.h"
#include "transfer.h"

namespace conformance::barrier_test {
namespace {

gex_TM_t split(int color, int key) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, team(), color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return made;
}

void nap(long milliseconds) {
  const timespec time{0, milliseconds * 1000000};
  nanosleep(&time, nullptr);
}

/// A count in the own segment that every rank raises by puts to its own slot at `owner`.
std::uint32_t* slots() {
  return reinterpret_cast<std::uint32_t*>(own_segment());
}
void notify(gex_Rank_t owner, std::uint32_t value) {
  gex_RMA_PutBlockingVal(team(), owner, segment_of(owner) + 4 * rank(), value, 4, 0);
}

/// Notifies every rank that the caller has come to this round.
void announce(std::uint32_t round) {
  for (gex_Rank_t peer = 0; peer < size(); ++peer) notify(peer, round);
}
/// Returns true if every rank of those chosen has announced this round to the caller.
template <class Chosen>
bool announced(std::uint32_t round, Chosen chosen) {
  for (gex_Rank_t peer = 0; peer < size(); ++peer)
    if (chosen(peer) && look_at<std::uint32_t>(slots() + peer) < round) return false;
  return true;
}
bool announced(std::uint32_t round) {
  return announced(round, [](gex_Rank_t) { return true; });
}

TEST(Barrier, NoRankLeavesBeforeAllRanksArrived) {
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 30; ++round) {
    // A different straggler each time.
    if (round % size() == rank() && round <= 2 * size()) nap(2);
    for (gex_Rank_t peer = 0; peer < size(); ++peer) notify(peer, round);
    barrier();
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      ASSERT_GE(look_at<std::uint32_t>(slots() + peer), round) << "rank " << peer;
      ASSERT_LE(look_at<std::uint32_t>(slots() + peer), round + 1) << "rank " << peer;
    }
  }
}

TEST(Barrier, OrdersWhatWasDoneBeforeIt) {
  // Plain stores before, plain loads after: through the owner's own memory and through puts.
  struct Mail {
    std::uint64_t words[32];
  };
  auto* own = reinterpret_cast<Mail*>(own_segment());
  for (std::uint64_t round = 1; round <= 100; ++round) {
    for (std::uint64_t& word : own[0].words) word = round * 1000 + rank();
    const std::uint64_t put_word = round * 2000 + rank();
    gex_RMA_PutBlocking(team(), next(), segment_of(next()) + sizeof(Mail), &put_word, 8, 0);
    barrier();
    Mail theirs;
    gex_RMA_GetBlocking(team(), &theirs, next(), segment_of(next()), sizeof theirs, 0);
    for (const std::uint64_t word : theirs.words) ASSERT_EQ(word, round * 1000 + next());
    ASSERT_EQ(own[1].words[0], round * 2000 + previous());
    barrier();
  }
}

TEST(Barrier, ManyInFlightOnOneTeam) {
  constexpr std::uint32_t count = 1000;
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t order = 0; order < 3; ++order) {
    std::vector<gex_Event_t> events;
    for (std::uint32_t i = 1; i <= count; ++i) {
      if (i % 100 == 0) announce(order * count + i);
      events.push_back(gex_Coll_BarrierNB(team(), 0));
    }
    if (order == 1) std::reverse(events.begin(), events.end());
    if (order == 2) {
      gex_Event_WaitAll(events.data(), count, 0);
      EXPECT_TRUE(announced(3 * count));
      continue;
    }
    for (std::uint32_t i = 1; i <= count; ++i) {
      gex_Event_Wait(events[i - 1]);
      const std::uint32_t done = order == 0 ? i : count - i + 1;
      ASSERT_TRUE(announced(order * count + done / 100 * 100)) << "barrier " << done;
    }
  }
}

TEST(Barrier, NeverBlocksALateRank) {
  // Rank 0 comes when the others have notified it that they have started all of theirs.
  constexpr std::size_t count = 200;
  std::fill_n(slots(), size(), 0);
  const gex_TM_t other = split(0, -static_cast<int>(rank()));
  barrier();
  std::vector<gex_Event_t> events;
  if (rank() == 0) {
    for (gex_Rank_t peer = 1; peer < size(); ++peer)
      WAIT_UNTIL(look_at<std::uint32_t>(slots() + peer) == 1);
  }
  for (std::size_t i = 0; i < count; ++i)
    events.push_back(gex_Coll_BarrierNB(i % 3 == 0 ? other : team(), 0));
  if (rank() != 0) {
    EXPECT_EQ(gex_Event_TestSome(events.data(), events.size(), 0), GASNET_ERR_NOT_READY);
    notify(0, 1);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_TM_Destroy(other, nullptr, 0);
}

TEST(Barrier, OnOverlappingTeams) {
  // All but the first, all but the last, neighbours in pairs: started in one order, waited for in
  // another.
  gex_TM_t teams[3] = {GEX_TM_INVALID, GEX_TM_INVALID, GEX_TM_INVALID};
  gex_TM_Split(rank() != 0 ? &teams[0] : nullptr, team(), 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Split(rank() + 1 != size() ? &teams[1] : nullptr, team(), 0, -static_cast<int>(rank()),
               nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Split(&teams[2], team(), static_cast<int>(rank() / 2), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  const auto first = [](gex_Rank_t peer) { return peer != 0; };
  const auto last = [](gex_Rank_t peer) { return peer + 1 != size(); };
  const auto pair = [](gex_Rank_t peer) { return peer / 2 == rank() / 2; };
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 50; ++round) {
    announce(round);
    // Before those of the whole team, which would hide what a small team's does not wait for.
    std::vector<gex_Event_t> events;
    for (const gex_TM_t tm : teams)
      events.push_back(tm == GEX_TM_INVALID ? GEX_EVENT_INVALID : gex_Coll_BarrierNB(tm, 0));
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t chosen = round % 2 == 0 ? 2 - i : i;
      gex_Event_Wait(events[chosen]);
      if (teams[chosen] == GEX_TM_INVALID) continue;
      EXPECT_TRUE(chosen == 0   ? announced(round, first)
                  : chosen == 1 ? announced(round, last)
                                : announced(round, pair))
          << "team " << chosen << ", round " << round;
    }
    events.clear();
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (const gex_TM_t tm : teams)
        if (tm != GEX_TM_INVALID) events.push_back(gex_Coll_BarrierNB(tm, 0));
      events.push_back(gex_Coll_BarrierNB(team(), 0));
    }
    if (round % 2 == 0) std::reverse(events.begin(), events.end());
    for (const gex_Event_t event : events) gex_Event_Wait(event);
    EXPECT_TRUE(announced(round)) << "round " << round;
  }
  for (const gex_TM_t tm : teams)
    if (tm != GEX_TM_INVALID) gex_TM_Destroy(tm, nullptr, 0);
}

TEST(Barrier, ASmallTeamsDoesNotWaitForOutsiders) {
  // Odd ranks pass thirty barriers of their team while the even ones wait until they are notified.
  std::fill_n(slots(), size(), 0);
  const gex_TM_t tm = split(static_cast<int>(rank() % 2), 0);
  barrier();
  if (rank() % 2 == 1) {
    for (int i = 0; i < 30; ++i) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    for (gex_Rank_t peer = 0; peer < size(); peer += 2) notify(peer, 1);
  } else {
    for (gex_Rank_t peer = 1; peer < size(); peer += 2)
      WAIT_UNTIL(look_at<std::uint32_t>(slots() + peer) == 1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gex_TM_Destroy(tm, nullptr, 0);
}

TEST(Barrier, OfTheHundredthTeamIsSeenInSharedMemoryAsOfTheFirst) {
  // Then it is over once all have arrived, though no rank has polled since.
  gex_Rank_t members = 0;
  gex_System_QueryNbrhdInfo(nullptr, &members, nullptr);
  std::vector<gex_TM_t> teams;
  teams.reserve(100);
  for (int i = 0; i < 100; ++i) teams.push_back(split(0, 0));
  if (members == size()) {
    StillBarrier still;
    for (const gex_TM_t tm : {teams.front(), teams.back()}) {
      const gex_Event_t event = gex_Coll_BarrierNB(tm, 0);
      still.arrive();
      const bool over = event == GEX_EVENT_INVALID || gex_Event_Test(event) == GASNET_OK;
      EXPECT_TRUE(over);
      still.arrive();
      if (!over) gex_Event_Wait(event);
    }
  } else {
    // Over a network what is lost is sent again by polls.
    for (const gex_TM_t tm : {teams.front(), teams.back()})
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  }
  for (const gex_TM_t tm : teams) gex_TM_Destroy(tm, nullptr, 0);
}

// Rank 0 leads its neighborhood. It has arrived and then computes until all others have found the
// barrier done, without a call of the library: where there is a progress thread, that carries the
// barrier on.
TEST_IN_PAR(Barrier, IsDoneWhileARankThatHasArrivedComputes) {
  const char* const progress_thread = std::getenv("GEX_PROGRESS_THREAD");
  const bool is_served = progress_thread != nullptr && *progress_thread == '1';
  std::fill_n(slots(), size(), 0);
  barrier();
  const auto meet = [&](std::uint32_t round, auto arrive, auto wait) {
    arrive();
    if (rank() != 0) {
      wait();
      notify(0, round);
      return;
    }
    for (gex_Rank_t other = 1; is_served && other < size(); ++other)
      while (look_at<std::uint32_t>(slots() + other) < round) sched_yield();
    wait();
  };
  gex_Event_t event = GEX_EVENT_INVALID;
  meet(
      1, [&] { event = gex_Coll_BarrierNB(team(), 0); }, [&] { gex_Event_Wait(event); });
  meet(
      2, [] { gasnet_barrier_notify(7, 0); },
      [] { EXPECT_EQ(gasnet_barrier_wait(7, 0), GASNET_OK); });
  barrier();
}

TEST(Barrier, BlockingFormBesideOneInFlight) {
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 100; ++round) {
    const gex_Event_t pending = gex_Coll_BarrierNB(team(), 0);
    announce(round);
    gex_Coll_BarrierBlocking(team(), 0);
    ASSERT_TRUE(announced(round)) << "round " << round;
    gex_Event_Wait(pending);
  }
}

TEST(Barrier, BlockingFormReturnsToNoRankBeforeAllRanksHaveCalledIt) {
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= size() + 3; ++round) {
    if (round % size() == rank()) nap(2);
    announce(round);
    gex_Coll_BarrierBlocking(team(), 0);
    ASSERT_TRUE(announced(round)) << "round " << round;
  }
  barrier();
}

TEST(Barrier, TestComesTrueWithPolling) {
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 50; ++round) {
    announce(round);
    const gex_Event_t event = gex_Coll_BarrierNB(team(), 0);
    retry([&] { return gex_Event_Test(event) == GASNET_OK; });
    ASSERT_TRUE(announced(round)) << "round " << round;
  }
}

TEST_WITH_THREADS(Barrier, StartedAndFinishedByDifferentThreads) {
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 30; ++round) {
    announce(round);
    gex_Event_t event = GEX_EVENT_INVALID;
    std::thread([&] { event = gex_Coll_BarrierNB(team(), 0); }).join();
    std::thread([&] { gex_Event_Wait(event); }).join();
    ASSERT_TRUE(announced(round)) << "round " << round;
  }
}

// The named barrier

TEST(NamedBarrier, AgreesOnAnId) {
  for (const int id : {0, 1, -1, 123456789, static_cast<int>(0x80000000U)}) {
    gasnet_barrier_notify(id, 0);
    EXPECT_EQ(gasnet_barrier_wait(id, 0), GASNET_OK);
    int result = ~id;
    EXPECT_EQ(gasnet_barrier_result(&result), 0);
    EXPECT_EQ(result, id);
    EXPECT_EQ(gasnet_barrier(id, 0), GASNET_OK);
  }
}

TEST(NamedBarrier, ManyOfThemInARow) {
  for (int i = 0; i < 300; ++i) ASSERT_EQ(gasnet_barrier(i, 0), GASNET_OK);
}

TEST(NamedBarrier, NoRankLeavesBeforeAllRanksArrived) {
  std::fill_n(slots(), size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 20; ++round) {
    if (round % size() == rank()) nap(2);
    announce(round);
    ASSERT_EQ(gasnet_barrier(static_cast<int>(round), 0), GASNET_OK);
    ASSERT_TRUE(announced(round)) << "round " << round;
  }
}

TEST(NamedBarrier, DifferentIdsAreAMismatchOnEveryRank) {
  if (size() == 1) {
    EXPECT_EQ(gasnet_barrier(9, 0), GASNET_OK);
    return;
  }
  // One rank differs, each in turn; then no rank agrees; then all is well again.
  for (gex_Rank_t odd = 0; odd < size(); ++odd)
    EXPECT_EQ(gasnet_barrier(rank() == odd ? 4 : 5, 0), GASNET_ERR_BARRIER_MISMATCH)
        << "rank " << odd << " differs";
  EXPECT_EQ(gasnet_barrier(static_cast<int>(rank()), 0), GASNET_ERR_BARRIER_MISMATCH);
  EXPECT_EQ(gasnet_barrier(6, 0), GASNET_OK);
}

TEST(NamedBarrier, AnonymousMatchesAnyId) {
  for (gex_Rank_t named = 0; named < size(); ++named) {
    const bool mine = rank() == named;
    const int flags = mine ? 0 : GASNET_BARRIERFLAG_ANONYMOUS;
    const int id = mine ? 77 : static_cast<int>(1000 + rank());
    EXPECT_EQ(gasnet_barrier(id, flags), GASNET_OK);
    int result = 0;
    EXPECT_EQ(gasnet_barrier_result(&result), 0);
    EXPECT_EQ(result, 77);
  }
  EXPECT_EQ(gasnet_barrier(static_cast<int>(rank()), GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  int result = 0;
  EXPECT_NE(gasnet_barrier_result(&result), 0) << "no rank named it";
  if (size() > 2) {
    // Two names and an anonymous one between them.
    const int flags = rank() == 1 ? GASNET_BARRIERFLAG_ANONYMOUS : 0;
    EXPECT_EQ(gasnet_barrier(rank() == 0 ? 1 : 2, flags), GASNET_ERR_BARRIER_MISMATCH);
  }
}

TEST(NamedBarrier, MismatchPoisonsItForAll) {
  for (gex_Rank_t spoiler = 0; spoiler < size(); ++spoiler) {
    EXPECT_EQ(gasnet_barrier(3, rank() == spoiler ? GASNET_BARRIERFLAG_MISMATCH : 0),
              GASNET_ERR_BARRIER_MISMATCH);
    EXPECT_EQ(gasnet_barrier(0, rank() == spoiler ? GASNET_BARRIERFLAG_MISMATCH
                                                  : GASNET_BARRIERFLAG_ANONYMOUS),
              GASNET_ERR_BARRIER_MISMATCH);
  }
  EXPECT_EQ(gasnet_barrier(3, 0), GASNET_OK);
}

TEST(NamedBarrier, Unnamed) {
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(gasnet_barrier(static_cast<int>(rank()) + i, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
  EXPECT_EQ(gasnet_barrier(2, 0), GASNET_OK);
}

// The rule since GASNet 1.20 and UPC 1.3: flags of notify and wait may differ, and who gives no id
// in one of the two fits any; an id that is given must be the job's.
TEST(NamedBarrier, IdsOfNotifyAndWaitMustAgree) {
  gasnet_barrier_notify(10, 0);
  EXPECT_EQ(gasnet_barrier_wait(11, 0), GASNET_ERR_BARRIER_MISMATCH);
  gasnet_barrier_notify(10, 0);
  EXPECT_EQ(gasnet_barrier_wait(10, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  gasnet_barrier_notify(10, GASNET_BARRIERFLAG_ANONYMOUS);
  EXPECT_EQ(gasnet_barrier_wait(77, 0), GASNET_OK);
  gasnet_barrier_notify(10, GASNET_BARRIERFLAG_ANONYMOUS);
  EXPECT_EQ(gasnet_barrier_wait(99, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  gasnet_barrier_notify(10, 0);
  EXPECT_EQ(gasnet_barrier_wait(10, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
  gasnet_barrier_notify(10, GASNET_BARRIERFLAG_UNNAMED);
  EXPECT_EQ(gasnet_barrier_wait(99, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
  EXPECT_EQ(gasnet_barrier(10, 0), GASNET_OK);
  gasnet_barrier_notify(10, 0);
  EXPECT_EQ(gasnet_barrier_wait(10, GASNET_BARRIERFLAG_MISMATCH), GASNET_ERR_BARRIER_MISMATCH);
  if (size() > 1) {
    // All have notified without an id, but for one: they are given it, and it must be theirs.
    for (const int id : {5, 6}) {
      gasnet_barrier_notify(5, rank() == 0 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
      EXPECT_EQ(gasnet_barrier_wait(id, 0), id == 5 ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
      int agreed = 0;
      EXPECT_EQ(gasnet_barrier_result(&agreed), 0);
      EXPECT_EQ(agreed, 5);
    }
  }
  EXPECT_EQ(gasnet_barrier(10, 0), GASNET_OK);
}

TEST(NamedBarrier, TryPollsAndReportsNotReady) {
  std::fill_n(slots(), size(), 0);
  for (int round = 1; round <= 20; ++round) {
    barrier();
    if (rank() != 0) {
      gasnet_barrier_notify(round, 0);
      // Rank 0 has not notified, and will not before every rank has notified it.
      for (int i = 0; i < 20; ++i) ASSERT_EQ(gasnet_barrier_try(round, 0), GASNET_ERR_NOT_READY);
      notify(0, static_cast<std::uint32_t>(round));
    } else {
      for (gex_Rank_t peer = 1; peer < size(); ++peer)
        WAIT_UNTIL(look_at<std::uint32_t>(slots() + peer) == static_cast<std::uint32_t>(round));
      gasnet_barrier_notify(round, 0);
    }
    // Nothing but try: it must poll by itself.
    const Patience patience;
    int result = GASNET_ERR_NOT_READY;
    while ((result = gasnet_barrier_try(round, 0)) == GASNET_ERR_NOT_READY && !patience.over())
      std::this_thread::yield();
    ASSERT_EQ(result, GASNET_OK);
    int id = 0;
    EXPECT_EQ(gasnet_barrier_result(&id), 0);
    EXPECT_EQ(id, round);
  }
}

TEST(NamedBarrier, SplitPhaseOverlapsTransfers) {
  const std::vector<std::byte> source = patterned(rank() + 8, 30000);
  std::vector<std::byte> back(30000);
  for (int round = 0; round < 20; ++round) {
    gasnet_barrier_notify(round, 0);
    gex_RMA_PutNBI(team(), next(), segment_of(next()) + 65536, source.data(), 30000,
                   GEX_EVENT_DEFER, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_RMA_GetBlocking(team(), back.data(), next(), segment_of(next()) + 65536, 30000, 0);
    ASSERT_TRUE(same_bytes(back.data(), source.data(), 30000));
    ASSERT_EQ(gasnet_barrier_wait(round, 0), GASNET_OK);
  }
}

}  // namespace
}  // namespace conformance::barrier_test
