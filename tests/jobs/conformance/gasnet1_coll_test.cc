// The collectives of GASNet-1: every rank can compute what every block holds.

#include <gasnet_coll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "conformance.h"
#include "endpoints.h"
#include "message.h"
#include "transfer.h"

namespace conformance::gasnet1_coll_test {
namespace {

constexpr int my = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
constexpr int all = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL;
constexpr int none = GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_NOSYNC | GASNET_COLL_LOCAL;
constexpr int mixed = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
constexpr std::array every_sync = {my, all, none, mixed};

constexpr std::array<std::size_t, 6> sizes = {1, 8, 100, 4096, 5001, 70000};

enum class Move { broadcast, scatter, gather, gather_all, exchange };
constexpr std::array every_move = {Move::broadcast, Move::scatter, Move::gather, Move::gather_all,
                                   Move::exchange};

/// Seed of the block that goes from one rank to another.
std::uint64_t seed_of(Move move, gex_Rank_t from, gex_Rank_t to) {
  return static_cast<std::uint64_t>(move) * 10000 + from * 100 +
         (move == Move::scatter || move == Move::exchange ? to : 99);
}

/// The contribution of a rank.
std::vector<std::byte> source_of(Move move, gex_Rank_t from, gex_Rank_t members,
                                 std::size_t bytes) {
  std::vector<std::byte> source;
  for (gex_Rank_t to = 0; to < members; ++to) {
    const auto block = patterned(seed_of(move, from, to), bytes);
    source.insert(source.end(), block.begin(), block.end());
  }
  return source;
}

/// A call with its buffers, and what they must hold afterwards.
struct Moving {
  gex_TM_t tm;
  gex_Rank_t me;
  gex_Rank_t members;
  Move move;
  gasnet_image_t root;
  std::size_t bytes;
  std::vector<std::byte> source;
  std::vector<std::byte> destination;
  /// Where the source is instead, if anywhere.
  std::byte* elsewhere = nullptr;
  gasnet_coll_handle_t handle = GASNET_COLL_INVALID_HANDLE;

  Moving(Move kind, gasnet_image_t image, std::size_t block, gex_TM_t on = GASNET_TEAM_ALL)
      : tm(on),
        me(gex_TM_QueryRank(on)),
        members(gex_TM_QuerySize(on)),
        move(kind),
        root(image),
        bytes(block),
        source(source_of(kind, me, members, block)),
        destination(block * members) {}

  void* src() { return elsewhere != nullptr ? elsewhere : source.data(); }

  void start(int flags) {
    void* const dst = destination.data();
    switch (move) {
      case Move::broadcast:
        handle = gasnet_coll_broadcast_nb(tm, dst, root, src(), bytes, flags);
        break;
      case Move::scatter:
        handle = gasnet_coll_scatter_nb(tm, dst, root, src(), bytes, flags);
        break;
      case Move::gather:
        handle = gasnet_coll_gather_nb(tm, root, dst, src(), bytes, flags);
        break;
      case Move::gather_all:
        handle = gasnet_coll_gather_all_nb(tm, dst, src(), bytes, flags);
        break;
      case Move::exchange:
        handle = gasnet_coll_exchange_nb(tm, dst, src(), bytes, flags);
        break;
    }
  }

  void do_blocking(int flags) {
    void* const dst = destination.data();
    switch (move) {
      case Move::broadcast:
        return gasnet_coll_broadcast(tm, dst, root, src(), bytes, flags);
      case Move::scatter:
        return gasnet_coll_scatter(tm, dst, root, src(), bytes, flags);
      case Move::gather:
        return gasnet_coll_gather(tm, root, dst, src(), bytes, flags);
      case Move::gather_all:
        return gasnet_coll_gather_all(tm, dst, src(), bytes, flags);
      case Move::exchange:
        return gasnet_coll_exchange(tm, dst, src(), bytes, flags);
    }
  }

  testing::AssertionResult moved() const {
    if (move == Move::broadcast || move == Move::scatter)
      return holds(destination.data(), seed_of(move, root, me), bytes);
    if (move == Move::gather && me != root) return testing::AssertionSuccess();
    for (gex_Rank_t from = 0; from < members; ++from) {
      const auto result = holds(destination.data() + from * bytes, seed_of(move, from, me), bytes);
      if (!result) return result;
    }
    return testing::AssertionSuccess();
  }
};

TEST(Gasnet1Collectives, EveryMoveOfEverySize) {
  for (const Move move : every_move)
    for (const std::size_t bytes : sizes)
      for (const int flags : every_sync) {
        Moving moving(move, static_cast<gasnet_image_t>(bytes % size()), bytes);
        moving.do_blocking(flags);
        ASSERT_TRUE(moving.moved()) << static_cast<int>(move) << " of " << bytes;
      }
}

TEST(Gasnet1Collectives, ManyInFlight) {
  for (const int flags : {my, none}) {
    std::vector<Moving> moves;
    for (int i = 0; i < 60; ++i)
      moves.emplace_back(every_move[static_cast<std::size_t>(i) % every_move.size()],
                         static_cast<gasnet_image_t>(i) % size(),
                         sizes[static_cast<std::size_t>(i) % 5]);
    for (Moving& moving : moves) moving.start(flags);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      Moving& moving = moves[(i + rank() * 7) % moves.size()];
      if (i % 2 == 0)
        gasnet_coll_wait_sync(moving.handle);
      else
        retry([&] { return gasnet_coll_try_sync(moving.handle) == GASNET_OK; });
      ASSERT_TRUE(moving.moved());
    }
  }
  barrier();
}

TEST(Gasnet1Collectives, HandlesInArrays) {
  using Handles = std::vector<gasnet_coll_handle_t>;
  const auto left = [](const Handles& handles) {
    return std::count_if(handles.begin(), handles.end(), [](gasnet_coll_handle_t handle) {
      return handle != GASNET_COLL_INVALID_HANDLE;
    });
  };
  const auto wait_some = [&](Handles& handles) {
    for (auto before = left(handles); before != 0; before = left(handles)) {
      gasnet_coll_wait_sync_some(handles.data(), handles.size());
      ASSERT_LT(left(handles), before);
    }
  };
  const auto try_some = [&](Handles& handles) {
    retry([&] {
      gasnet_coll_try_sync_some(handles.data(), handles.size());
      return left(handles) == 0;
    });
  };
  const auto wait_all = [](Handles& handles) {
    gasnet_coll_wait_sync_all(handles.data(), handles.size());
  };
  const auto try_all = [](Handles& handles) {
    retry([&] { return gasnet_coll_try_sync_all(handles.data(), handles.size()) == GASNET_OK; });
  };
  const std::vector<std::function<void(Handles&)>> ways = {wait_some, try_some, wait_all, try_all};
  for (const auto& finish : ways) {
    std::vector<Moving> moves;
    for (const Move move : every_move) moves.emplace_back(move, 0, std::size_t{3000});
    for (Moving& moving : moves) moving.start(my);
    Handles handles{GASNET_COLL_INVALID_HANDLE};
    for (const Moving& moving : moves) handles.push_back(moving.handle);
    finish(handles);
    EXPECT_EQ(left(handles), 0);
    for (const Moving& moving : moves) EXPECT_TRUE(moving.moved());
  }
  barrier();
}

TEST(Gasnet1Collectives, BlocksInTheirPlace) {
  constexpr std::size_t bytes = 6000;
  const std::vector<std::byte> own = patterned(rank(), bytes);
  // In the segment, with the flag that promises it.
  std::byte* const blocks = own_segment();
  std::byte* const mine = blocks + rank() * bytes;
  constexpr int there = GASNET_COLL_SRC_IN_SEGMENT | GASNET_COLL_DST_IN_SEGMENT;
  std::memcpy(mine, own.data(), bytes);
  gasnet_coll_gather_all(GASNET_TEAM_ALL, blocks, mine, bytes, my | there);
  for (gex_Rank_t from = 0; from < size(); ++from)
    ASSERT_TRUE(holds(blocks + from * bytes, from, bytes));
  for (gex_Rank_t root = 0; root < size(); ++root) {
    if (rank() != root) fill(mine, 1000 + rank(), bytes);
    gasnet_coll_gather(GASNET_TEAM_ALL, root, blocks, mine, bytes, my | there);
    if (rank() == root) {
      for (gex_Rank_t from = 0; from < size(); ++from)
        ASSERT_TRUE(holds(blocks + from * bytes, from == root ? root : 1000 + from, bytes));
    }
    // Back to where they come from, the root's to where it is.
    if (rank() != root) fill(mine, 0, bytes);
    gasnet_coll_scatter(GASNET_TEAM_ALL, mine, root, blocks, bytes, my | there);
    ASSERT_TRUE(holds(mine, rank() == root ? root : 1000 + rank(), bytes));
    gasnet_coll_broadcast(gasnete_coll_team_all, mine, root, mine, bytes, my | there);
    ASSERT_TRUE(holds(mine, root, bytes));
    fill(mine, rank(), bytes);
  }
}

TEST(Gasnet1Collectives, AllSyncWaitsForWhatAllHaveWritten) {
  // Each rank puts into the next one's source, and out of its destination.
  if (size() < 2) return;
  auto* const source = reinterpret_cast<std::uint64_t*>(own_segment());
  auto* const gathered = source + 8;
  const auto theirs = [](gex_Rank_t of, std::size_t index) {
    return reinterpret_cast<std::uint64_t*>(segment_of(of)) + index;
  };
  for (std::uint64_t round = 1; round <= 20; ++round) {
    *source = 0;
    barrier();
    const std::uint64_t value = round * 100 + rank();
    gex_RMA_PutBlocking(team(), next(), theirs(next(), 0), &value, sizeof value, 0);
    gasnet_coll_gather_all(GASNET_TEAM_ALL, gathered, source, sizeof value, all);
    std::uint64_t seen = 0;
    gex_RMA_GetBlocking(team(), &seen, next(), theirs(next(), 8 + previous()), sizeof seen, 0);
    ASSERT_EQ(seen, round * 100 + (previous() + size() - 1) % size());
    barrier();
  }
}

/// Messages that let a rank go on.
Count reported;
void notify(gex_Token_t) {
  ++reported;
}
const Handlers handlers({entry(notify, short_request, 0, "notify")});
void notify_to_go_on(gex_Rank_t peer) {
  gex_AM_RequestShort(team(), peer, handlers[0], 0);
}

constexpr std::array every_all_sync = {
    all, mixed, GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL};

TEST(Gasnet1Collectives, ReturnBeforeOthersHaveCalled) {
  // Each starts, and only then notifies the next: no rank comes through if a call waits.
  reported.reset();
  barrier();
  long turns = 0;
  for (const Move move : every_move)
    for (const std::size_t bytes : {0, 8, 20000})
      for (const int flags : every_all_sync) {
        Moving moving(move, static_cast<gasnet_image_t>(turns) % size(), bytes);
        ++turns;
        if (rank() != 0) WAIT_UNTIL(reported.get() == turns);
        moving.start(flags);
        if (rank() + 1 < size()) notify_to_go_on(rank() + 1);
        gasnet_coll_wait_sync(moving.handle);
        ASSERT_TRUE(moving.moved()) << static_cast<int>(move) << " of " << bytes;
      }
  barrier();
}

TEST(Gasnet1Collectives, OutAllSyncIsNotCompleteBeforeAllHaveCalled) {
  if (size() < 2) return;
  reported.reset();
  barrier();
  long turns = 0;
  long expected = 0;
  for (const Move move : every_move)
    for (const std::size_t bytes : {0, 8, 20000})
      for (const int flags : {every_all_sync[0], every_all_sync[2]}) {
        const auto last = static_cast<gex_Rank_t>(turns) % size();
        Moving moving(move, static_cast<gasnet_image_t>(turns / 2) % size(), bytes);
        ++turns;
        if (rank() == last) {
          expected += size() - 1;
          WAIT_UNTIL(reported.get() == expected);
          moving.start(flags);
        } else {
          moving.start(flags);
          for (int i = 0; i < 50; ++i)
            ASSERT_EQ(gasnet_coll_try_sync(moving.handle), GASNET_ERR_NOT_READY)
                << static_cast<int>(move) << " of " << bytes;
          notify_to_go_on(last);
        }
        gasnet_coll_wait_sync(moving.handle);
        ASSERT_TRUE(moving.moved()) << static_cast<int>(move) << " of " << bytes;
        barrier();
      }
}

/// All ranks but the last start; then it writes every rank's source and starts.
void write_sources_late(Move move, gasnet_image_t root, std::size_t bytes, gex_Rank_t last,
                        int flags) {
  Moving moving(move, root, bytes);
  moving.elsewhere = own_segment();
  std::memset(own_segment(), 0, bytes * size());
  reported.reset();
  barrier();
  if (rank() != last) {
    moving.start(flags);
    notify_to_go_on(last);
  } else {
    WAIT_UNTIL(reported.get() == size() - 1);
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      const auto source = source_of(move, peer, size(), bytes);
      gex_RMA_PutBlocking(team(), peer, segment_of(peer), source.data(), source.size(), 0);
    }
    moving.start(flags);
  }
  gasnet_coll_wait_sync(moving.handle);
  ASSERT_TRUE(moving.moved()) << static_cast<int>(move) << " of " << bytes;
  barrier();
}

TEST(Gasnet1Collectives, InAllSyncMovesWhatWasWrittenBeforeTheLastCall) {
  const gex_Rank_t end = size() - 1;
  for (const Move move : every_move)
    for (const std::size_t bytes : {8, 9000})
      for (const int flags : {all, mixed})
        for (const gex_Rank_t last : {gex_Rank_t{0}, end})
          for (const gasnet_image_t root : {gasnet_image_t{0}, gasnet_image_t{end}})
            write_sources_late(move, root, bytes, last, flags);
}

TEST(Gasnet1Collectives, BlockingMeetsNonBlocking) {
  int turns = 0;
  for (const Move move : every_move)
    for (const int flags : every_sync)
      for (const std::size_t bytes : {0, 8, 5001}) {
        Moving moving(move, 0, bytes);
        if (rank() % 2 == static_cast<gex_Rank_t>(turns++ % 2)) {
          moving.do_blocking(flags);
        } else {
          moving.start(flags);
          gasnet_coll_wait_sync(moving.handle);
        }
        ASSERT_TRUE(moving.moved()) << static_cast<int>(move) << " of " << bytes;
      }
}

/// Every pair of an IN and an OUT flag.
std::vector<int> every_pair() {
  std::vector<int> pairs;
  for (const int in : {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC})
    for (const int out : {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC})
      pairs.push_back(in | out | GASNET_COLL_LOCAL);
  return pairs;
}

/// A call of GASNet-1 with the collectives of GASNet-EX around it.
struct Surrounded {
  Moving moving;
  std::uint64_t mine;
  std::uint64_t sum = 0;
  std::uint64_t first;
  std::array<gex_Event_t, 3> events{};

  Surrounded(Move move, gasnet_image_t root, std::size_t bytes, gex_TM_t tm)
      : moving(move, root, bytes, tm), mine(moving.me + bytes), first(mine) {}

  /// Not moved until it has finished.
  void start(int flags) {
    events[0] = gex_Coll_BroadcastNB(moving.tm, moving.root, &first, &mine, sizeof first, 0);
    moving.start(flags);
    events[1] = gex_Coll_BarrierNB(moving.tm, 0);
    events[2] = gex_Coll_ReduceToAllNB(moving.tm, &sum, &mine, GEX_DT_U64, sizeof sum, 1,
                                       GEX_OP_ADD, nullptr, nullptr, 0);
  }
  /// The last first.
  void finish() {
    gex_Event_Wait(events[2]);
    gex_Event_Wait(events[1]);
    gasnet_coll_wait_sync(moving.handle);
    gex_Event_Wait(events[0]);
    const std::uint64_t members = moving.members;
    ASSERT_EQ(sum, members * moving.bytes + members * (members - 1) / 2);
    ASSERT_EQ(first, moving.root + moving.bytes);
    ASSERT_TRUE(moving.moved()) << static_cast<int>(moving.move) << " of " << moving.bytes;
  }
};

TEST(Gasnet1Collectives, EveryPairOfFlagsInFlight) {
  // On the whole team, on one that shares members with it, and on both in turn.
  const auto me = static_cast<int>(rank());
  gex_TM_t half = GEX_TM_INVALID;
  gex_TM_Split(&half, team(), me % 2, -me, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  const std::vector<std::vector<gex_TM_t>> every_choice = {
      {GASNET_TEAM_ALL}, {half}, {GASNET_TEAM_ALL, half}};
  for (const auto& teams : every_choice) {
    std::deque<Surrounded> calls;
    std::size_t number = 0;
    for (const int flags : every_pair())
      for (const Move move : every_move)
        for (const gex_TM_t tm : teams) {
          const std::size_t bytes = sizes[number % 5];
          calls.emplace_back(move, static_cast<gasnet_image_t>(number) % gex_TM_QuerySize(tm),
                             bytes, tm);
          ++number;
          calls.back().start(flags);
          if (rank() % 3 == 1) gasnet_AMPoll();
        }
    for (; !calls.empty(); calls.pop_back()) calls.back().finish();
  }
  barrier();
  gex_TM_Destroy(half, nullptr, 0);
}

TEST(Gasnet1Collectives, AllSyncOnATeamWithSeveralMembersInAProcess) {
  const AllRanks all_ranks;
  for (const int flags : every_pair()) {
    std::deque<Surrounded> calls;
    for (const Move move : every_move)
      for (const From from : every_source) {
        calls.emplace_back(move, 1, std::size_t{5001}, all_ranks.tm(from));
        calls.back().start(flags);
      }
    for (; !calls.empty(); calls.pop_back()) calls.back().finish();
  }
}

TEST_WITH_THREADS(Gasnet1Collectives, AllSyncStartedAndFinishedByDifferentThreads) {
  for (const Move move : every_move)
    for (const std::size_t bytes : {8, 5001}) {
      Moving moving(move, 0, bytes);
      std::thread([&] { moving.start(all); }).join();
      std::thread([&] { gasnet_coll_wait_sync(moving.handle); }).join();
      ASSERT_TRUE(moving.moved()) << static_cast<int>(move) << " of " << bytes;
    }
}

TEST(Gasnet1Collectives, SingleValuedAddresses) {
  // Every rank gives the same address, each its own memory's: one that the sanitizers leave to
  // programs, below where libraries are loaded.
  void* const wanted = reinterpret_cast<void*>(std::uintptr_t{0x7ea000000000});
  void* const page = mmap(wanted, GASNET_PAGESIZE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(page, wanted);
  auto* const value = static_cast<std::uint64_t*>(page);
  auto* const results = value + 1;
  *value = rank() + 5;
  const int single = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_SINGLE;
  gasnet_coll_gather_all(GASNET_TEAM_ALL, results, value, sizeof *value, single);
  for (gex_Rank_t from = 0; from < size(); ++from) EXPECT_EQ(results[from], from + 5U);
  gasnet_coll_broadcast(GASNET_TEAM_ALL, results, size() - 1, value, sizeof *value, single);
  EXPECT_EQ(*results, size() + 4U);
  munmap(page, GASNET_PAGESIZE);
}

TEST(Gasnet1Collectives, DumpsAreThere) {
  gasnet_coll_dumpProfile(nullptr, GASNET_TEAM_ALL);
  gasnet_coll_dumpTuningState(nullptr, GASNET_TEAM_ALL);
  EXPECT_EQ(GASNET_TEAM_ALL, team());
}

// Barriers of teams

gex_TM_t split(int color, int key) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, team(), color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return made;
}

TEST(Gasnet1TeamBarrier, AgreesOnAnId) {
  const gex_TM_t half = split(static_cast<int>(rank() % 2), static_cast<int>(size() - rank()));
  for (const gex_TM_t tm : {GASNET_TEAM_ALL, half}) {
    for (int id = 0; id < 40; ++id) {
      gasnet_coll_barrier_notify(tm, id, 0);
      ASSERT_EQ(gasnet_coll_barrier_wait(tm, id, 0), GASNET_OK);
      ASSERT_EQ(gasnet_coll_barrier(tm, id, id % 2 == 0 ? GASNET_BARRIERFLAG_ANONYMOUS : 0),
                GASNET_OK);
    }
  }
  // One each under way.
  gasnet_coll_barrier_notify(half, 3, 0);
  gasnet_coll_barrier_notify(GASNET_TEAM_ALL, static_cast<int>(rank()), GASNET_BARRIERFLAG_UNNAMED);
  retry([&] { return gasnet_coll_barrier_try(half, 3, 0) == GASNET_OK; });
  EXPECT_EQ(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
  barrier();
  gex_TM_Destroy(half, nullptr, 0);
}

TEST(Gasnet1TeamBarrier, TryFailsUntilAllHaveNotified) {
  // Each rank in turn notifies when all others have tried without success.
  auto* const tried = reinterpret_cast<std::uint32_t*>(own_segment());
  std::fill_n(tried, size(), 0);
  barrier();
  for (gex_Rank_t late = 0; late < size(); ++late) {
    if (rank() == late) {
      for (gex_Rank_t peer = 0; peer < size(); ++peer)
        if (peer != late) WAIT_UNTIL(look_at<std::uint32_t>(tried + peer) == late + 1);
    }
    gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 9, 0);
    if (rank() != late) {
      EXPECT_EQ(gasnet_coll_barrier_try(GASNET_TEAM_ALL, 9, 0), GASNET_ERR_NOT_READY);
      gex_RMA_PutBlockingVal(team(), late, segment_of(late) + 4 * rank(), late + 1, 4, 0);
    }
    retry([] { return gasnet_coll_barrier_try(GASNET_TEAM_ALL, 9, 0) == GASNET_OK; });
  }
  barrier();
}

TEST(Gasnet1TeamBarrier, ReportsAMismatchToAll) {
  if (size() > 1) {
    for (gex_Rank_t odd = 0; odd < size(); ++odd) {
      EXPECT_EQ(gasnet_coll_barrier(GASNET_TEAM_ALL, rank() == odd ? 1 : 2, 0),
                GASNET_ERR_BARRIER_MISMATCH);
      EXPECT_EQ(
          gasnet_coll_barrier(GASNET_TEAM_ALL, 1, rank() == odd ? GASNET_BARRIERFLAG_MISMATCH : 0),
          GASNET_ERR_BARRIER_MISMATCH);
      EXPECT_EQ(gasnet_coll_barrier(GASNET_TEAM_ALL, rank() == odd ? 7 : 1,
                                    rank() == odd ? 0 : GASNET_BARRIERFLAG_ANONYMOUS),
                GASNET_OK);
    }
  }
  gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 10, 0);
  EXPECT_EQ(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, 11, 0), GASNET_ERR_BARRIER_MISMATCH);
  gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 10, 0);
  EXPECT_EQ(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_ANONYMOUS);
  EXPECT_EQ(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, 10, 0), GASNET_OK);
  EXPECT_EQ(gasnet_coll_barrier(GASNET_TEAM_ALL, 10, 0), GASNET_OK);
}

TEST(Gasnet1TeamBarrier, NoRankLeavesBeforeAllRanksArrived) {
  auto* const flags = reinterpret_cast<std::uint32_t*>(own_segment());
  std::fill_n(flags, size(), 0);
  barrier();
  for (std::uint32_t round = 1; round <= 10; ++round) {
    for (gex_Rank_t peer = 0; peer < size(); ++peer)
      gex_RMA_PutBlocking(team(), peer, reinterpret_cast<std::uint32_t*>(segment_of(peer)) + rank(),
                          &round, sizeof round, 0);
    ASSERT_EQ(gasnet_coll_barrier(GASNET_TEAM_ALL, static_cast<int>(round), 0), GASNET_OK);
    for (gex_Rank_t peer = 0; peer < size(); ++peer)
      ASSERT_GE(look_at<std::uint32_t>(flags + peer), round);
  }
}

}  // namespace
}  // namespace conformance::gasnet1_coll_test
