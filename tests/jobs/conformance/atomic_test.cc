// Atomic domains: every type, operation, form and flag, over any team, directly and by message.

#include <numeric>
#include <thread>

#include "atomic_calls.h"
#include "transfer.h"

namespace conformance::atomic_test {
namespace {

using atomic_arithmetic::bits_of;
using atomic_arithmetic::is_fetching;
using atomic_arithmetic::operation_count;

template <class T>
class Atomic : public testing::Test {};
TYPED_TEST_SUITE(Atomic, AtomicTypes);

TYPED_TEST(Atomic, OperationsDoWhatPlainArithmeticDoes) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  atomic_arithmetic::Values<T> values(rank() * 100 + Functions<T>::dt);
  constexpr gex_Flags_t choices[] = {GEX_FLAG_IMMEDIATE,       GEX_FLAG_AD_ACQ,
                                     GEX_FLAG_AD_REL,          GEX_FLAG_RANK_IS_JOBRANK,
                                     GEX_FLAG_SELF_SEG_OFFSET, GEX_FLAG_PEER_SEG_OFFSET};
  const gex_Rank_t targets[] = {rank(), next(), previous(), size() - 1};
  // Where this rank alone operates; and where results go, by pointer or offset.
  const std::size_t place = 4096 + rank() * 64;
  const std::size_t result_place = 65536;
  T& result = *reinterpret_cast<T*>(own_segment() + result_place);
  for (const gex_Rank_t target : targets) {
    T expected = values();
    once<T>(ad, target, segment_of(target) + place, GEX_OP_SET, expected);
    for (unsigned step = 0; step < 20 * operation_count; ++step) {
      const gex_OP_t op = gex_OP_t{1} << step % operation_count;
      if ((op & atomic_arithmetic::operations<T>()) == 0) continue;
      const std::uint64_t choice = values.number();
      gex_Flags_t flags = 0;
      if (choice % 2 == 0)
        for (unsigned i = 0; i < std::size(choices); ++i)
          if ((choice >> (8 + i) & 1) != 0) flags |= choices[i];
      if ((choice >> 20 & 3) == 0 && in_neighborhood(target)) flags |= GEX_FLAG_AD_MY_NBRHD;
      if ((choice >> 20 & 3) == 1 && target == rank()) flags |= GEX_FLAG_AD_MY_RANK;
      const T op1 = choice >> 30 & 1 ? values() : expected;
      const T op2 = values();
      result = T{99};
      Call<T> call{ad, &result, target, segment_of(target) + place, op, op1, op2, flags};
      if ((flags & GEX_FLAG_SELF_SEG_OFFSET) != 0) call.result = reinterpret_cast<T*>(result_place);
      if ((flags & GEX_FLAG_PEER_SEG_OFFSET) != 0) call.at = reinterpret_cast<void*>(place);
      perform(call, static_cast<unsigned>(choice >> 40));
      ASSERT_EQ(bits_of(result), bits_of(is_fetching(op) ? expected : T{99}))
          << "operation " << op << ", flags " << flags << ", rank " << target;
      expected = atomic_arithmetic::after(op, expected, op1, op2);
    }
    EXPECT_EQ(bits_of(once<T>(ad, target, segment_of(target) + place, GEX_OP_GET)),
              bits_of(expected));
  }
  barrier();
  gex_AD_Destroy(ad);
}

TYPED_TEST(Atomic, OperationsThatFetchNothingNeedNoPlaceForIt) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  std::byte* at = segment_of(next()) + 8 * rank();
  for (unsigned way = 0; way < 4; ++way) {
    perform(Call<T>{ad, nullptr, next(), at, GEX_OP_SET, T{5}, 0, 0}, way);
    perform(Call<T>{ad, nullptr, next(), at, GEX_OP_ADD, T{2}, 0, GEX_FLAG_SELF_SEG_OFFSET}, way);
    perform(Call<T>{ad, nullptr, next(), at, GEX_OP_CAS, T{7}, T{11}, 0}, way);
    EXPECT_EQ(once<T>(ad, next(), at, GEX_OP_GET), T{11});
  }
  barrier();
  gex_AD_Destroy(ad);
}

/// All ranks at once on one word of one rank: the first free word at `hot`.
constexpr std::size_t hot = 1024;

template <class T>
void clear_hot_word() {
  std::memset(own_segment() + hot, 0, 64);
  barrier();
}

TYPED_TEST(Atomic, HotWordCountsEveryIncrementOnce) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  // Up to 2^24, which a float still counts.
  constexpr int each = 300;
  for (const gex_Rank_t target : {gex_Rank_t{0}, static_cast<gex_Rank_t>(size() - 1)}) {
    clear_hot_word<T>();
    std::byte* at = segment_of(target) + hot;
    std::vector<T> fetched(each);
    for (int i = 0; i < each; ++i) {
      const gex_OP_t op = i % 2 == 0 ? GEX_OP_FINC : GEX_OP_FADD;
      fetched[i] = i % 2 == 0 ? once<T>(ad, target, at, op) : once<T>(ad, target, at, op, T{1});
    }
    for (int i = 1; i < each; ++i) ASSERT_LT(fetched[i - 1], fetched[i]);
    // Every number below the total was fetched by one rank: their sum shows it, none twice.
    double sum = 0;
    for (const T value : fetched) sum += static_cast<double>(value);
    const std::vector<double> sums = gather(sum);
    const double total = static_cast<double>(each) * size();
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0), total * (total - 1) / 2);
    EXPECT_EQ(once<T>(ad, target, at, GEX_OP_GET), static_cast<T>(total));
    barrier();
  }
  gex_AD_Destroy(ad);
}

TYPED_TEST(Atomic, HotWordsOfAllRanksLoseNothingWithManyUnderWay) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  clear_hot_word<T>();
  constexpr int each = 200;
  std::vector<gex_Event_t> events;
  for (int i = 0; i < each; ++i) {
    for (gex_Rank_t target = 0; target < size(); ++target) {
      std::byte* at = segment_of(target) + hot;
      Functions<T>::nbi(ad, nullptr, target, at, GEX_OP_ADD, T{3}, 0, 0);
      events.push_back(Functions<T>::nb(ad, nullptr, target, at, GEX_OP_DEC, 0, 0, 0));
    }
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  gex_Event_WaitAll(events.data(), events.size(), 0);
  barrier();
  const auto total = static_cast<T>(2 * each * size());
  EXPECT_EQ(*reinterpret_cast<T*>(own_segment() + hot), total);
  EXPECT_EQ(once<T>(ad, next(), segment_of(next()) + hot, GEX_OP_GET), total);
  barrier();
  gex_AD_Destroy(ad);
}

TYPED_TEST(Atomic, HotWordKeepsTheLargestAndTheSmallest) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  clear_hot_word<T>();
  const std::size_t smallest = hot + 8;
  if (rank() == 0) once<T>(ad, 0, own_segment() + smallest, GEX_OP_SET, T{30000});
  barrier();
  for (int i = 0; i < 100; ++i) {
    const auto value = static_cast<T>((i * 37 + static_cast<int>(rank()) * 101) % 10000 + 1);
    once<T>(ad, 0, segment_of(0) + hot, GEX_OP_MAX, value);
    once<T>(ad, 0, segment_of(0) + smallest, GEX_OP_MIN, value);
  }
  barrier();
  T max = 0;
  T least = 30000;
  for (int r = 0; r < static_cast<int>(size()); ++r) {
    for (int i = 0; i < 100; ++i) {
      const auto value = static_cast<T>((i * 37 + r * 101) % 10000 + 1);
      max = std::max(max, value);
      least = std::min(least, value);
    }
  }
  EXPECT_EQ(once<T>(ad, 0, segment_of(0) + hot, GEX_OP_GET), max);
  EXPECT_EQ(once<T>(ad, 0, segment_of(0) + smallest, GEX_OP_GET), least);
  barrier();
  gex_AD_Destroy(ad);
}

TYPED_TEST(Atomic, DomainsOfEveryTeamAnswerAndOperate) {
  using T = TypeParam;
  struct Kind {
    int color;
    int key;
  };
  const auto own = static_cast<int>(rank());
  const Kind kinds[] = {{0, -own}, {own % 2, own}, {own, 0}};
  for (const Kind& kind : kinds) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_TM_Split(&tm, team(), kind.color, kind.key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    const gex_Flags_t favors[] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD,
                                  GEX_FLAG_AD_FAVOR_REMOTE};
    for (const gex_Flags_t favor : favors) {
      const gex_OP_t ops = GEX_OP_FADD | GEX_OP_SET | GEX_OP_GET;
      const gex_AD_t ad = create(tm, Functions<T>::dt, ops, favor);
      ASSERT_NE(ad, GEX_AD_INVALID);
      EXPECT_EQ(gex_AD_QueryTM(ad), tm);
      EXPECT_EQ(gex_AD_QueryDT(ad), Functions<T>::dt);
      EXPECT_EQ(gex_AD_QueryOps(ad), ops);
      EXPECT_EQ(gex_AD_QueryFlags(ad), favor);
      EXPECT_EQ(gex_AD_QueryCData(ad), nullptr);
      gex_AD_SetCData(ad, &tm);
      EXPECT_EQ(gex_AD_QueryCData(ad), &tm);

      once<T>(ad, gex_TM_QueryRank(tm), own_segment() + hot, GEX_OP_SET, T{0}, T{0},
              GEX_FLAG_AD_MY_RANK);
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
      // Every rank adds to every rank: by rank of the team, and by jobrank.
      for (gex_Rank_t member = 0; member < gex_TM_QuerySize(tm); ++member) {
        const gex_Rank_t jobrank = gex_TM_TranslateRankToJobrank(tm, member);
        std::byte* at = segment_of(jobrank) + hot;
        once<T>(ad, member, at, GEX_OP_FADD, T{1});
        once<T>(ad, jobrank, at, GEX_OP_FADD, T{4}, T{0}, GEX_FLAG_RANK_IS_JOBRANK);
      }
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
      EXPECT_EQ(*reinterpret_cast<T*>(own_segment() + hot),
                static_cast<T>(5 * gex_TM_QuerySize(tm)));
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
      gex_AD_Destroy(ad);
    }
    gex_TM_Destroy(tm, nullptr, 0);
  }
}

using Word = std::uint64_t;

// Networks may have these operations themselves, but not those of a domain with all.
template <class T>
void change_bits(gex_DT_t type) {
  gex_AD_t ad;
  gex_AD_Create(&ad, team(), type,
                GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_FCAS | GEX_OP_FADD | GEX_OP_GET, 0);
  for (gex_Rank_t turn = 0; turn < size(); ++turn) {
    clear_hot_word<T>();
    if (rank() == turn) {
      for (gex_Rank_t target = 0; target < size(); ++target) {
        std::byte* const at = segment_of(target) + hot;
        EXPECT_EQ(once<T>(ad, target, at, GEX_OP_FCAS, T{0}, T{1}), T{0});
        EXPECT_EQ(once<T>(ad, target, at, GEX_OP_FXOR, T{3}), T{1});
        EXPECT_EQ(once<T>(ad, target, at, GEX_OP_FOR, T{32}), T{2});
        EXPECT_EQ(once<T>(ad, target, at, GEX_OP_FADD, T{5}), T{34});
        EXPECT_EQ(once<T>(ad, target, at, GEX_OP_FAND, T{38}), T{39});
        EXPECT_EQ(once<T>(ad, target, at, GEX_OP_GET), T{38});
      }
    }
    barrier();
  }
  gex_AD_Destroy(ad);
}

TEST(AtomicDomain, OfBitsAndSumsChangesThemOnEveryRank) {
  change_bits<std::int32_t>(GEX_DT_I32);
  change_bits<std::uint64_t>(GEX_DT_U64);
}

// A rank that is late in making or ending a domain keeps no rank waiting, and the others'
// operations reach its memory meanwhile.
TEST(AtomicDomain, MakingAndEndingWaitForNoRank) {
  constexpr gex_OP_t ops = GEX_OP_FADD | GEX_OP_GET;
  auto* counter = reinterpret_cast<Word*>(own_segment() + hot);
  *counter = 0;
  barrier();
  gex_AD_t ad = GEX_AD_INVALID;
  const auto report = [&] { once<Word>(ad, 0, segment_of(0) + hot, GEX_OP_FADD, Word{1}); };
  for (gex_Rank_t round = 1; round <= 2; ++round) {
    const auto all_reported = [&] { return look_at<Word>(counter) >= round * (size() - 1); };
    if (rank() == 0) WAIT_UNTIL(all_reported());
    if (round == 1) {
      gex_AD_Create(&ad, team(), GEX_DT_U64, ops, GEX_FLAG_AD_FAVOR_MY_RANK);
      if (rank() != 0) report();
    } else {
      gex_AD_Destroy(ad);
      gex_AD_Create(&ad, team(), GEX_DT_U64, ops, GEX_FLAG_AD_FAVOR_MY_RANK);
      if (rank() != 0) report();
    }
  }
  barrier();
  EXPECT_EQ(*counter, rank() == 0 ? 2 * (size() - 1) : 0);
  gex_AD_Destroy(ad);
}

// A network's atomics are not coherent with the processor's. What a network carries out has an
// event of its own; what inline code does is done.
TEST(AtomicFlags, OwnRankAsAConstantGoesTheWayOfTheDomain) {
  const gex_AD_t ad = create_all<Word>();
  auto* own = reinterpret_cast<Word*>(own_segment() + hot);
  volatile gex_Flags_t not_constant = GEX_FLAG_AD_MY_RANK;
  gex_Event_t events[2];
  events[0] = gex_AD_OpNB_U64(ad, nullptr, rank(), own, GEX_OP_INC, 0, 0, not_constant);
  events[1] = gex_AD_OpNB_U64(ad, nullptr, rank(), own, GEX_OP_INC, 0, 0, GEX_FLAG_AD_MY_RANK);
  EXPECT_EQ(events[0] == GEX_EVENT_INVALID, events[1] == GEX_EVENT_INVALID);
  gex_Event_WaitAll(events, 2, 0);
  gex_AD_Destroy(ad);
}

TEST(AtomicFlags, OfOwnRankAndNeighborhoodAsConstants) {
  const gex_AD_t ad = create_all<Word>();
  auto* own = reinterpret_cast<Word*>(own_segment() + hot);
  *own = 5;
  barrier();
  Word result = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &result, rank(), own, GEX_OP_FADD, 2, 0, GEX_FLAG_AD_MY_RANK));
  EXPECT_EQ(result, 5U);
  EXPECT_EQ(gex_AD_OpNBI_U64(ad, &result, rank(), own, GEX_OP_SWAP, 20, 0,
                             GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_ACQ | GEX_FLAG_RANK_IS_JOBRANK),
            0);
  gex_NBI_Wait(GEX_EC_RMW, 0);
  EXPECT_EQ(result, 7U);
  EXPECT_EQ(*own, 20U);
  barrier();
  gex_Rank_t neighbors = 0;
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    if (!in_neighborhood(peer)) continue;
    ++neighbors;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, nullptr, peer, segment_of(peer) + hot, GEX_OP_INC, 0, 0,
                                   GEX_FLAG_AD_MY_NBRHD));
  }
  barrier();
  EXPECT_EQ(*own, 20U + neighbors);
  barrier();
  gex_AD_Destroy(ad);
}

// A word released after the data, acquired before them.
TEST(AtomicFlags, ReleaseAndAcquirePassDataOn) {
  const gex_AD_t ad = create_all<Word>();
  std::memset(own_segment(), 0, 32768);
  barrier();
  const std::size_t flag = 16384;
  const std::size_t taken = 16448;
  for (Word round = 1; round <= 100; ++round) {
    const std::vector<std::byte> data = patterned(rank() * 1000 + round, 4096);
    gex_RMA_PutBlocking(team(), next(), segment_of(next()), data.data(), data.size(), 0);
    once<Word>(ad, next(), segment_of(next()) + flag, GEX_OP_SET, round, 0, GEX_FLAG_AD_REL);
    WAIT_UNTIL(once<Word>(ad, rank(), own_segment() + flag, GEX_OP_GET, 0, 0, GEX_FLAG_AD_ACQ) ==
               round);
    ASSERT_TRUE(holds(own_segment(), previous() * 1000 + round, 4096)) << "round " << round;
    once<Word>(ad, previous(), segment_of(previous()) + taken, GEX_OP_FCAS, round - 1, round,
               GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ);
    WAIT_UNTIL(once<Word>(ad, rank(), own_segment() + taken, GEX_OP_GET, 0, 0, GEX_FLAG_AD_ACQ) ==
               round);
  }
  barrier();
  gex_AD_Destroy(ad);
}

// An operation acquires for the thread that synchronises it, whichever has started it.
TEST_WITH_THREADS(AtomicFlags, AcquireIsOfTheThreadThatSynchronises) {
  const gex_AD_t ad = create_all<Word>();
  std::memset(own_segment(), 0, 32768);
  barrier();
  const std::size_t flag = 16384;
  for (Word round = 1; round <= 8; ++round) {
    const std::vector<std::byte> data = patterned(rank() * 1000 + round, 4096);
    gex_RMA_PutBlocking(team(), next(), segment_of(next()), data.data(), data.size(), 0);
    once<Word>(ad, next(), segment_of(next()) + flag, GEX_OP_SET, round, 0, GEX_FLAG_AD_REL);
    Word seen = 0;
    retry([&] {
      gex_Event_t event = GEX_EVENT_INVALID;
      std::thread([&] {
        event = gex_AD_OpNB_U64(ad, &seen, rank(), own_segment() + flag, GEX_OP_GET, 0, 0,
                                GEX_FLAG_AD_ACQ);
      }).join();
      gex_Event_Wait(event);
      return seen == round;
    });
    ASSERT_TRUE(holds(own_segment(), previous() * 1000 + round, 4096)) << "round " << round;
    barrier();
  }
  gex_AD_Destroy(ad);
}

// A lock of compare-and-swap around what is not atomic: CAS never fails without a cause, and ACQ
// and REL keep what it protects inside.
TEST(AtomicFlags, MakeALock) {
  const gex_AD_t ad = create_all<Word>();
  clear_hot_word<Word>();
  std::byte* lock = segment_of(0) + hot;
  std::byte* counter = segment_of(0) + hot + 32;
  constexpr Word each = 50;
  for (Word i = 0; i < each; ++i) {
    retry(
        [&] { return once<Word>(ad, 0, lock, GEX_OP_FCAS, 0, rank() + 1, GEX_FLAG_AD_ACQ) == 0; });
    Word count = 0;
    gex_RMA_GetBlocking(team(), &count, 0, counter, sizeof count, 0);
    ++count;
    gex_RMA_PutBlocking(team(), 0, counter, &count, sizeof count, 0);
    once<Word>(ad, 0, lock, GEX_OP_SET, 0, 0, GEX_FLAG_AD_REL);
  }
  barrier();
  if (rank() == 0) {
    EXPECT_EQ(*reinterpret_cast<Word*>(own_segment() + hot + 32), each * size());
  }
  barrier();
  gex_AD_Destroy(ad);
}

// Each rank waits on a word of its own for the operation of the rank before it, by nothing else
// than operations: it may come as a message, or to where the network needs this rank's polls.
void wait_by_operations(gex_AD_t ad) {
  clear_hot_word<Word>();
  const gex_Rank_t next = (rank() + 1) % size();
  const auto pass_on = [&] { once<Word>(ad, next, segment_of(next) + hot, GEX_OP_SET, 1); };
  if (rank() == 0) pass_on();
  while (once<Word>(ad, rank(), own_segment() + hot, GEX_OP_FCAS, 1, 2) != 1) {
  }
  if (rank() != 0) pass_on();
  barrier();
  gex_AD_Destroy(ad);
}

TEST(AtomicProgress, ALoopOfOperationsServesOthers) {
  wait_by_operations(create_all<Word>());
  // Networks may have these themselves, but not those of a domain with all.
  gex_AD_t ad;
  gex_AD_Create(&ad, team(), GEX_DT_U64, GEX_OP_FCAS | GEX_OP_SET, 0);
  wait_by_operations(ad);
}

TEST(AtomicFlags, ImmediateThatIsRefusedDoesNothing) {
  const gex_AD_t ad = create_all<Word>();
  clear_hot_word<Word>();
  Word accepted = 0;
  std::vector<gex_Event_t> events;
  std::byte* const at = segment_of(next()) + hot;
  // What came before may have all the room there is, until polls have seen its answers.
  retry([&] {
    return gex_AD_OpNBI_U64(ad, nullptr, next(), at, GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE) == 0;
  });
  ++accepted;
  for (int i = 0; i < 2000; ++i) {
    if (i % 2 == 0) {
      accepted +=
          gex_AD_OpNBI_U64(ad, nullptr, next(), at, GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE) == 0 ? 1
                                                                                               : 0;
      continue;
    }
    const gex_Event_t event =
        gex_AD_OpNB_U64(ad, nullptr, next(), at, GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE);
    if (event == GEX_EVENT_NO_OP) continue;
    ++accepted;
    events.push_back(event);
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  gex_Event_WaitAll(events.data(), events.size(), 0);
  EXPECT_EQ(once<Word>(ad, next(), segment_of(next()) + hot, GEX_OP_GET), accepted);
  barrier();
  gex_AD_Destroy(ad);
}

TEST(AtomicCompletion, EachOperationCountsInItsCategory) {
  const gex_AD_t ad = create_all<Word>();
  std::byte* at = segment_of(next()) + hot;
  for (Word round = 1; round <= 200; ++round) {
    Word got = 0;
    gex_AD_OpNBI_U64(ad, nullptr, next(), at, GEX_OP_SET, round, 0, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_AD_OpNBI_U64(ad, &got, next(), at, GEX_OP_GET, 0, 0, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    ASSERT_EQ(got, round);
    gex_AD_OpNBI_U64(ad, &got, next(), at, GEX_OP_SWAP, 7, 0, 0);
    gex_AD_OpNBI_U64(ad, nullptr, next(), at + 8, GEX_OP_SET, 0, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    ASSERT_EQ(got, round);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
  barrier();
  gex_AD_Destroy(ad);
}

TEST(AtomicCompletion, ARegionGathersAllCategories) {
  const gex_AD_t ad = create_all<Word>();
  std::byte* at = segment_of(next()) + hot;
  for (Word round = 0; round < 20; ++round) {
    once<Word>(ad, next(), at, GEX_OP_SET, round);
    Word got[20] = {};
    Word swapped[20] = {};
    gex_NBI_BeginAccessRegion(0);
    for (Word i = 0; i < 20; ++i) {
      gex_AD_OpNBI_U64(ad, &got[i], next(), at, GEX_OP_GET, 0, 0, 0);
      gex_AD_OpNBI_U64(ad, &swapped[i], next(), at + 8 + 8 * i, GEX_OP_SWAP, round + i + 1, 0, 0);
      gex_AD_OpNBI_U64(ad, nullptr, next(), at + 256 + 8 * i, GEX_OP_SET, round + i, 0, 0);
    }
    gex_Event_t region = gex_NBI_EndAccessRegion(0);
    if (region != GEX_EVENT_INVALID) gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_GET));
    for (const Word value : got) ASSERT_EQ(value, round);
    if (region != GEX_EVENT_INVALID) gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_RMW));
    for (Word i = 0; i < 20 && round > 0; ++i) ASSERT_EQ(swapped[i], round + i);
    gex_Event_Wait(region);
    for (Word i = 0; i < 20; ++i) {
      ASSERT_EQ(once<Word>(ad, next(), at + 256 + 8 * i, GEX_OP_GET), round + i);
    }
  }
  barrier();
  gex_AD_Destroy(ad);
}

TEST(AtomicDomain, SeveralOfDifferentTypesServeSideBySide) {
  const gex_AD_t integers = create(team(), GEX_DT_I32, GEX_OP_FSUB | GEX_OP_GET);
  const gex_AD_t floats = create(team(), GEX_DT_DBL, GEX_OP_MULT | GEX_OP_GET);
  auto* const number = reinterpret_cast<std::int32_t*>(own_segment() + hot);
  auto* const factor = reinterpret_cast<double*>(own_segment() + hot + 8);
  *number = 0;
  *factor = 1;
  barrier();
  for (int i = 0; i < 20; ++i) {
    once<std::int32_t>(integers, next(), segment_of(next()) + hot, GEX_OP_FSUB, 3);
    once<double>(floats, next(), segment_of(next()) + hot + 8, GEX_OP_MULT, 2.0);
  }
  barrier();
  EXPECT_EQ(*number, -60);
  EXPECT_EQ(*factor, 1048576.0);
  gex_AD_Destroy(floats);
  EXPECT_EQ(once<std::int32_t>(integers, next(), segment_of(next()) + hot, GEX_OP_GET), -60);
  barrier();
  gex_AD_Destroy(integers);
}

TEST_IN_PAR(AtomicThreads, OfOneRankLoseNothing) {
  const gex_AD_t ad = create_all<Word>();
  clear_hot_word<Word>();
  constexpr Word each = 300;
  const auto work = [&] {
    std::byte* at = segment_of(0) + hot;
    for (Word i = 0; i < each; ++i) {
      once<Word>(ad, 0, at, GEX_OP_FADD, 1);
      gex_AD_OpNBI_U64(ad, nullptr, 0, at, GEX_OP_XOR, Word{1} << 40, 0, 0);
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
  };
  std::thread other(work);
  work();
  other.join();
  barrier();
  // Each bit was turned over an even number of times.
  EXPECT_EQ(once<Word>(ad, 0, segment_of(0) + hot, GEX_OP_GET), 2 * each * size());
  barrier();
  gex_AD_Destroy(ad);
}

}  // namespace
}  // namespace conformance::atomic_test
