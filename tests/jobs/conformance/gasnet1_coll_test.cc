// The collectives of GASNet-1: every rank knows what every block holds.

#include <gasnet_coll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "conformance.h"
#include "transfer.h"

namespace conformance {
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

/// A call with its buffers, and what they must hold afterwards.
struct Moving {
  Move move;
  gasnet_image_t root;
  std::size_t bytes;
  std::vector<std::byte> source;
  std::vector<std::byte> destination;
  gasnet_coll_handle_t handle = GASNET_COLL_INVALID_HANDLE;

  Moving(Move kind, gasnet_image_t image, std::size_t block)
      : move(kind), root(image), bytes(block), destination(block * size()) {
    for (gex_Rank_t to = 0; to < size(); ++to) {
      const auto block_to = patterned(seed_of(move, rank(), to), bytes);
      source.insert(source.end(), block_to.begin(), block_to.end());
    }
  }

  void start(int flags) {
    void* const dst = destination.data();
    void* const src = source.data();
    const gasnet_team_handle_t team_all = GASNET_TEAM_ALL;
    switch (move) {
      case Move::broadcast:
        handle = gasnet_coll_broadcast_nb(team_all, dst, root, src, bytes, flags);
        break;
      case Move::scatter:
        handle = gasnet_coll_scatter_nb(team_all, dst, root, src, bytes, flags);
        break;
      case Move::gather:
        handle = gasnet_coll_gather_nb(team_all, root, dst, src, bytes, flags);
        break;
      case Move::gather_all:
        handle = gasnet_coll_gather_all_nb(team_all, dst, src, bytes, flags);
        break;
      case Move::exchange:
        handle = gasnet_coll_exchange_nb(team_all, dst, src, bytes, flags);
        break;
    }
  }

  void do_blocking(int flags) {
    void* const dst = destination.data();
    void* const src = source.data();
    switch (move) {
      case Move::broadcast:
        return gasnet_coll_broadcast(GASNET_TEAM_ALL, dst, root, src, bytes, flags);
      case Move::scatter:
        return gasnet_coll_scatter(GASNET_TEAM_ALL, dst, root, src, bytes, flags);
      case Move::gather:
        return gasnet_coll_gather(GASNET_TEAM_ALL, root, dst, src, bytes, flags);
      case Move::gather_all:
        return gasnet_coll_gather_all(GASNET_TEAM_ALL, dst, src, bytes, flags);
      case Move::exchange:
        return gasnet_coll_exchange(GASNET_TEAM_ALL, dst, src, bytes, flags);
    }
  }

  testing::AssertionResult moved() const {
    if (move == Move::broadcast || move == Move::scatter)
      return holds(destination.data(), seed_of(move, root, rank()), bytes);
    if (move == Move::gather && rank() != root) return testing::AssertionSuccess();
    for (gex_Rank_t from = 0; from < size(); ++from) {
      const auto result =
          holds(destination.data() + from * bytes, seed_of(move, from, rank()), bytes);
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
  // In the segment, and said to be.
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
    gasnet_coll_broadcast(GASNET_TEAM_ALL, mine, root, mine, bytes, my | there);
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

TEST(Gasnet1TeamBarrier, TellsAMismatchToAll) {
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
  EXPECT_EQ(gasnet_coll_barrier(GASNET_TEAM_ALL, 10, 0), GASNET_OK);
}

TEST(Gasnet1TeamBarrier, NobodyLeavesBeforeEverybodyArrived) {
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
}  // namespace conformance
