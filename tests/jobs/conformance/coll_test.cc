// Broadcast and reductions against naive loops: every rank can compute what all others give, so
// computes for itself what it must get.

#include <gasnet_coll.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../atomic_arithmetic.h"
#include "conformance.h"
#include "endpoints.h"
#include "transfer.h"

namespace conformance::coll_test {
namespace {

gex_TM_t split(int color, int key) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, team(), color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return made;
}

void destroy(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gex_TM_Destroy(tm, nullptr, 0);
}

/// Sizes around what fits in a cell, in a piece, in an eager message, in a block.
constexpr std::array<std::size_t, 17> sizes = {
    1, 7, 8, 48, 49, 56, 64, 100, 1024, 1025, 4096, 4097, 8192, 8193, 32769, 65536, 200003};

// Broadcast

/// Broadcasts a pattern and checks it; `in_place`: the root gives its destination as the source.
void broadcast_and_check(gex_TM_t tm, gex_Rank_t root, std::size_t bytes, std::uint64_t seed,
                         bool in_place) {
  const bool is_root = gex_TM_QueryRank(tm) == root;
  const std::vector<std::byte> source = patterned(seed, bytes);
  std::vector<std::byte> to = is_root && in_place ? source : patterned(seed + 1, bytes);
  const void* from = !is_root ? nullptr : in_place ? to.data() : source.data();
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, to.data(), from, bytes, 0));
  ASSERT_TRUE(holds(to.data(), seed, bytes)) << bytes << " bytes from " << root;
  ASSERT_TRUE(holds(source.data(), seed, bytes)) << "the source was written";
}

TEST(Broadcast, EverySizeFromEveryRoot) {
  for (const std::size_t bytes : sizes)
    for (gex_Rank_t root = 0; root < size(); ++root)
      broadcast_and_check(team(), root, bytes, bytes + root, (bytes + root) % 2 == 0);
}

TEST(Broadcast, OfNothingBetweenOthers) {
  std::array<std::byte, 16> untouched{};
  for (gex_Rank_t root = 0; root < size(); ++root) {
    gex_Event_t nothing[] = {
        gex_Coll_BroadcastNB(team(), root, nullptr, nullptr, 0, 0),
        gex_Coll_BroadcastNB(team(), root, untouched.data(), untouched.data(), 0, 0)};
    broadcast_and_check(team(), root, 5, root, false);
    gex_Event_WaitAll(nothing, 2, 0);
  }
  EXPECT_EQ(untouched, decltype(untouched){});
}

TEST(Broadcast, OfMegabytes) {
  broadcast_and_check(team(), size() - 1, (std::size_t{3} << 20) + 5, 3, false);
}

TEST(Broadcast, RunsAheadOfThoseWhoCome) {
  // The root starts many that the others have not called; they come one by one, and late.
  constexpr std::size_t bytes = 24;
  constexpr unsigned count = 300;
  std::vector<std::byte> source = patterned(9, bytes * count);
  std::vector<std::byte> to(bytes * count);
  std::vector<gex_Event_t> events(count);
  const bool root = rank() == 0;
  for (unsigned i = 0; i < count; ++i) {
    gex_Event_t event =
        gex_Coll_BroadcastNB(team(), 0, to.data() + i * bytes, source.data() + i * bytes, bytes, 0);
    if (root)
      events[i] = event;
    else
      gex_Event_Wait(event);
  }
  if (root) gex_Event_WaitAll(events.data(), count, 0);
  EXPECT_TRUE(same_bytes(to.data(), source.data(), bytes * count));
}

// Reductions

template <class T>
struct DataType;
#define DATA_TYPE(type, constant)               \
  template <>                                   \
  struct DataType<type> {                       \
    static constexpr gex_DT_t value = constant; \
  }
DATA_TYPE(std::int32_t, GEX_DT_I32);
DATA_TYPE(std::uint32_t, GEX_DT_U32);
DATA_TYPE(std::int64_t, GEX_DT_I64);
DATA_TYPE(std::uint64_t, GEX_DT_U64);
DATA_TYPE(float, GEX_DT_FLT);
DATA_TYPE(double, GEX_DT_DBL);
#undef DATA_TYPE

template <class T>
std::vector<gex_OP_t> operations() {
  std::vector<gex_OP_t> all = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX};
  if (std::is_integral_v<T>) all.insert(all.end(), {GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR});
  return all;
}

/// The operand of rank `of`: small numbers where the order of operands must not matter.
template <class T>
std::vector<T> operand(gex_Rank_t of, std::size_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  if constexpr (std::is_integral_v<T>) {
    atomic_arithmetic::Values<T> random(seed * 1000 + of);
    for (T& value : values) value = random();
  } else {
    // Powers of two with a sign, whose products are exact, and sums of few of them.
    std::minstd_rand random(static_cast<unsigned>(seed * 1000 + of + 1));
    for (T& value : values)
      value =
          static_cast<T>(std::ldexp(random() % 2 == 0 ? 1 : -1, static_cast<int>(random() % 3)));
  }
  return values;
}

enum class To { one, all };

gex_Event_t reduce(To to, gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, gex_DT_t dt,
                   std::size_t dt_sz, std::size_t count, gex_OP_t op,
                   gex_Coll_ReduceFn_t user = nullptr, void* cdata = nullptr) {
  return to == To::all
             ? gex_Coll_ReduceToAllNB(tm, dst, src, dt, dt_sz, count, op, user, cdata, 0)
             : gex_Coll_ReduceToOneNB(tm, root, dst, src, dt, dt_sz, count, op, user, cdata, 0);
}

template <class T>
void reduce_and_check(To to, gex_TM_t tm, gex_Rank_t root, std::size_t count, gex_OP_t op,
                      std::uint64_t seed, bool in_place) {
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  std::vector<T> expected = operand<T>(0, count, seed);
  for (gex_Rank_t rank = 1; rank < gex_TM_QuerySize(tm); ++rank) {
    const std::vector<T> more = operand<T>(rank, count, seed);
    for (std::size_t i = 0; i < count; ++i)
      expected[i] = atomic_arithmetic::after<T>(op, expected[i], more[i], T{});
  }
  const bool has_result = to == To::all || me == root;
  const std::vector<T> given = operand<T>(me, count, seed);
  std::vector<T> source = given;
  std::vector<T> result(count);
  T* destination = !has_result ? nullptr : in_place ? source.data() : result.data();
  gex_Event_Wait(
      reduce(to, tm, root, destination, source.data(), DataType<T>::value, sizeof(T), count, op));
  if (has_result) {
    ASSERT_TRUE(same_bytes(destination, expected.data(), count * sizeof(T)))
        << count << " elements, operation 0x" << std::hex << op;
  }
  if (!has_result || !in_place) {
    ASSERT_TRUE(same_bytes(source.data(), given.data(), count * sizeof(T)))
        << "the source was written";
  }
}

template <class T>
class Reduction : public testing::Test {};
using Types =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Reduction, Types);

TYPED_TEST(Reduction, EveryOperationToAll) {
  std::uint64_t seed = 1;
  for (const gex_OP_t op : operations<TypeParam>())
    for (const std::size_t count : {1, 6, 7, 130, 1030, 3000}) {
      ++seed;
      reduce_and_check<TypeParam>(To::all, team(), 0, count, op, seed, seed % 2 == 0);
    }
}

TYPED_TEST(Reduction, EveryOperationToOne) {
  std::uint64_t seed = 100;
  for (const gex_OP_t op : operations<TypeParam>())
    for (const std::size_t count : {1, 6, 13, 200, 1030, 3000}) {
      ++seed;
      reduce_and_check<TypeParam>(To::one, team(), static_cast<gex_Rank_t>(seed % size()), count,
                                  op, seed, seed % 3 == 0);
    }
}

TEST(Reductions, OfMegabytes) {
  for (const To to : {To::one, To::all})
    for (const bool in_place : {false, true})
      reduce_and_check<std::uint64_t>(to, team(), size() - 1, 100003, GEX_OP_ADD, 11, in_place);
}

TEST(Reductions, OfNothingBetweenOthers) {
  std::int32_t untouched = 77;
  const std::int32_t given = 1;
  for (const To to : {To::one, To::all}) {
    gex_Event_t nothing[] = {
        reduce(to, team(), 0, nullptr, nullptr, GEX_DT_I32, 4, 0, GEX_OP_ADD),
        reduce(to, team(), 0, &untouched, &given, GEX_DT_I32, 4, 0, GEX_OP_ADD)};
    reduce_and_check<std::int32_t>(to, team(), 0, 5, GEX_OP_ADD, 3, false);
    gex_Event_WaitAll(nothing, 2, 0);
  }
  EXPECT_EQ(untouched, 77);
}

TEST(Reductions, MinimumAndMaximumPassOverNaN) {
  // Which of the two it gives is not specified, but it is one of them, the same on all ranks.
  if (size() < 2) return;
  const double mine = rank() == 1 ? std::numeric_limits<double>::quiet_NaN() : rank() + 1.0;
  for (const gex_OP_t op : {GEX_OP_MIN, GEX_OP_MAX}) {
    double result = -7;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team(), &result, &mine, GEX_DT_DBL, sizeof mine, 1, op,
                                          nullptr, nullptr, 0));
    EXPECT_TRUE(std::isnan(result) || (result >= 1 && result <= size())) << result;
    const std::vector<double> all = gather(result);
    for (const double other : all)
      EXPECT_EQ(std::bit_cast<std::uint64_t>(other), std::bit_cast<std::uint64_t>(result));
  }
}

TEST(Reductions, GiveTheSameToTheLastBit) {
  // Sums of doubles depend on their order.
  std::mt19937_64 random(rank() + 77);
  for (const std::size_t count : {1, 5, 600, 5000}) {
    std::vector<double> operands(count);
    for (double& value : operands)
      value = std::ldexp(static_cast<double>(random() % 1000003) - 500000,
                         static_cast<int>(random() % 60) - 30);
    std::vector<double> first(count);
    for (int repetition = 0; repetition < 6; ++repetition) {
      if (repetition % size() == rank()) std::this_thread::yield();
      std::vector<double> sums(count);
      gex_Event_Wait(gex_Coll_ReduceToAllNB(team(), sums.data(), operands.data(), GEX_DT_DBL,
                                            sizeof(double), count, GEX_OP_ADD, nullptr, nullptr,
                                            0));
      if (repetition == 0) first = sums;
      ASSERT_TRUE(same_bytes(sums.data(), first.data(), count * sizeof(double)));
    }
    for (const double of_others : gather(first[count / 2])) ASSERT_EQ(of_others, first[count / 2]);
  }
}

// User types and operators

/// Joins affine maps x -> a x + b: associative, not commutative. The bytes of an element behind the
/// map are a pattern that must come along whole.
struct Map {
  std::uint64_t a;
  std::uint64_t b;
};
struct JoinContext {
  std::size_t element;  ///< bytes
  std::uint64_t calls;
};
Map map_of(const std::byte* element) {
  Map map;
  std::memcpy(&map, element, sizeof map);
  return map;
}
Map join(const Map& left, const Map& right) {
  return {left.a * right.a, left.a * right.b + left.b};
}
void join_maps(const void* left, void* right, std::size_t count, const void* cdata) {
  auto& context = *static_cast<JoinContext*>(const_cast<void*>(cdata));
  __atomic_fetch_add(&context.calls, 1, __ATOMIC_RELAXED);
  const auto* a = static_cast<const std::byte*>(left);
  auto* b = static_cast<std::byte*>(right);
  for (std::size_t i = 0; i < count; ++i, a += context.element, b += context.element) {
    const Map joined = join(map_of(a), map_of(b));
    std::memcpy(b, &joined, sizeof joined);
    for (std::size_t at = sizeof joined; at < context.element; ++at) b[at] ^= a[at];
  }
}
/// As above, called by its other name, with a context elsewhere.
void join_maps_too(const void* left, void* right, std::size_t count, const void* cdata) {
  join_maps(left, right, count, cdata);
}

std::vector<std::byte> maps_of(gex_Rank_t of, std::size_t element, std::size_t count,
                               std::uint64_t seed) {
  std::vector<std::byte> bytes = patterned(seed * 1000 + of, element * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Map map{2 * (of + i) + 3, seed + of * 7 + i};
    std::memcpy(bytes.data() + i * element, &map, sizeof map);
  }
  return bytes;
}

void reduce_maps(To to, gex_TM_t tm, gex_Rank_t root, std::size_t element, std::size_t count,
                 std::uint64_t seed, bool in_place) {
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  const gex_Rank_t members = gex_TM_QuerySize(tm);
  std::vector<std::byte> expected = maps_of(members - 1, element, count, seed);
  JoinContext naive{element, 0};
  for (gex_Rank_t rank = members - 1; rank-- > 0;)
    join_maps(maps_of(rank, element, count, seed).data(), expected.data(), count, &naive);
  std::vector<std::byte> source = maps_of(me, element, count, seed);
  std::vector<std::byte> result(source.size());
  const bool has_result = to == To::all || me == root;
  std::byte* destination = in_place ? source.data() : result.data();
  // Function and context differ by rank.
  auto context = std::make_unique<JoinContext>(JoinContext{element, 0});
  gex_Event_Wait(reduce(to, tm, root, has_result ? destination : nullptr, source.data(),
                        GEX_DT_USER, element, count, GEX_OP_USER_NC,
                        me % 2 == 0 ? join_maps : join_maps_too, context.get()));
  if (has_result) {
    ASSERT_TRUE(same_bytes(destination, expected.data(), expected.size()))
        << count << " elements of " << element << " bytes to " << root;
  }
  if (!has_result || !in_place) {
    ASSERT_TRUE(same_bytes(source.data(), maps_of(me, element, count, seed).data(), source.size()))
        << "arg1 was written";
  }
}

TEST(UserReductions, KeepTheOrderOfRanks) {
  std::uint64_t seed = 0;
  for (const std::size_t element : {16, 24, 40})
    for (const std::size_t count : {1, 2, 3, 100, 900})
      for (const To to : {To::one, To::all})
        for (const bool in_place : {false, true}) {
          ++seed;
          reduce_maps(to, team(), static_cast<gex_Rank_t>(seed % size()), element, count, seed,
                      in_place);
        }
}

// As vectors of numbers are, which a processor may refuse to read from elsewhere.

template <std::size_t lanes>
struct alignas(lanes * sizeof(double)) Lanes {
  double lane[lanes];
};
template <class Element>
void add_lanes(const void* left, void* right, std::size_t count, const void*) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(left) % alignof(Element), 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(right) % alignof(Element), 0U);
  const auto* a = static_cast<const double*>(left);
  auto* b = static_cast<double*>(right);
  for (std::size_t i = 0; i < count * sizeof(Element) / sizeof(double); ++i) b[i] += a[i];
}

template <class Element>
void reduce_aligned(To to, gex_TM_t tm, std::size_t count) {
  constexpr std::size_t lanes = sizeof(Element) / sizeof(double);
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  const gex_Rank_t members = gex_TM_QuerySize(tm);
  std::vector<Element> source(count);
  std::vector<Element> result(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      source[i].lane[lane] = static_cast<double>(me + i * lanes + lane);
  const gex_Rank_t root = members - 1;
  const bool has_result = to == To::all || me == root;
  gex_Event_Wait(reduce(to, tm, root, has_result ? result.data() : nullptr, source.data(),
                        GEX_DT_USER, sizeof(Element), count, GEX_OP_USER, add_lanes<Element>,
                        nullptr));
  const double ranks = members * (members - 1) / 2.0;
  for (std::size_t i = 0; has_result && i < count; ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(result[i].lane[lane], ranks + members * static_cast<double>(i * lanes + lane));
}

TEST(UserReductions, OfAlignedElements) {
  for (const To to : {To::one, To::all})
    for (const std::size_t count : {1, 2, 3, 200, 1000}) {
      reduce_aligned<Lanes<2>>(to, team(), count);
      reduce_aligned<Lanes<4>>(to, team(), count);
      reduce_aligned<Lanes<8>>(to, team(), count);
    }
}

TEST(UserReductions, OfElementsLargerThanAnyBuffer) {
  std::uint64_t seed = 0;
  for (const auto& [element, count] : {std::pair<std::size_t, std::size_t>{8192, 3},
                                       {8200, 2},
                                       {40000, 3},
                                       {100000, 4},
                                       {700001, 1}})
    for (const To to : {To::one, To::all}) {
      ++seed;
      reduce_maps(to, team(), static_cast<gex_Rank_t>(seed % size()), element, count, seed,
                  seed % 2 == 0);
    }
}

TEST(UserReductions, InTeamsWhoseRanksAreMixed) {
  // Reversed, and with neighbors in a neighborhood far apart.
  const auto me = static_cast<int>(rank());
  for (const int key : {-me, me % 2 * 1000 + me, me * 7919 % 101}) {
    const gex_TM_t tm = split(0, key);
    for (const To to : {To::one, To::all})
      for (const auto& [element, count] :
           {std::pair<std::size_t, std::size_t>{16, 1}, {24, 500}, {50000, 2}})
        for (gex_Rank_t root = 0; root < size(); root += 2)
          reduce_maps(to, tm, root, element, count, root, false);
    destroy(tm);
  }
}

void add_and_count(const void* left, void* right, std::size_t count, const void* cdata) {
  static_cast<void>(cdata);
  for (std::size_t i = 0; i < count; ++i)
    static_cast<std::uint32_t*>(right)[i] += static_cast<const std::uint32_t*>(left)[i];
}

TEST(UserReductions, OfBuiltInTypes) {
  for (const std::size_t count : {1, 70, 5000}) {
    std::vector<std::uint32_t> source(count, rank() + 1);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team(), source.data(), source.data(), GEX_DT_U32, 4,
                                          count, GEX_OP_USER, add_and_count, nullptr, 0));
    EXPECT_EQ(source, std::vector<std::uint32_t>(count, size() * (size() + 1) / 2));
  }
}

// Many in flight, and overlapping teams

struct InFlight {
  gex_Event_t event = GEX_EVENT_INVALID;
  std::vector<std::byte> source;
  std::vector<std::byte> destination;
  std::vector<std::byte> expected;
};

/// Starts a collective that `random`, the same on all members, chooses.
void start_random(InFlight& op, gex_TM_t tm, std::mt19937_64& random) {
  const gex_Rank_t members = gex_TM_QuerySize(tm);
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  const auto kind = random() % 3;
  const auto root = static_cast<gex_Rank_t>(random() % members);
  const std::size_t longest = random() % 8 == 0 ? 12000 : random() % 2 == 0 ? 600 : 6;
  const std::size_t count = random() % longest + 1;
  const std::size_t bytes = count * sizeof(std::uint64_t);
  const std::uint64_t seed = random();
  op.destination.assign(bytes, std::byte{0});
  if (kind == 0) {
    op.source = op.expected = patterned(seed, bytes);
    op.event = gex_Coll_BroadcastNB(tm, root, op.destination.data(),
                                    me == root ? op.source.data() : nullptr, bytes, 0);
    return;
  }
  const auto value = [&](gex_Rank_t of, std::size_t i) { return (seed + of) * (2 * i + 1); };
  std::vector<std::uint64_t> mine(count), sums(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    mine[i] = value(me, i);
    for (gex_Rank_t of = 0; of < members; ++of) sums[i] += value(of, i);
  }
  op.source.resize(bytes);
  std::memcpy(op.source.data(), mine.data(), bytes);
  op.expected.resize(bytes);
  if (kind == 1 || me == root) std::memcpy(op.expected.data(), sums.data(), bytes);
  op.event = reduce(kind == 1 ? To::all : To::one, tm, root, op.destination.data(),
                    op.source.data(), GEX_DT_U64, sizeof(std::uint64_t), count, GEX_OP_ADD);
}

TEST(Collectives, ManyInFlightOnOneTeam) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 4; ++round) {
    std::vector<InFlight> ops(150);
    for (InFlight& op : ops) {
      start_random(op, team(), random);
      if (rank() % 3 == 1) gasnet_AMPoll();
    }
    // Each rank waits in an order of its own.
    if (rank() % 2 == 1) std::reverse(ops.begin(), ops.end());
    for (InFlight& op : ops) {
      gex_Event_Wait(op.event);
      ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
    }
  }
}

TEST(Collectives, InFlightWithBarriers) {
  std::mt19937_64 random(43);
  std::vector<InFlight> ops(40);
  std::vector<gex_Event_t> barriers;
  for (InFlight& op : ops) {
    start_random(op, team(), random);
    barriers.push_back(gex_Coll_BarrierNB(team(), 0));
  }
  for (const gex_Event_t event : barriers) gex_Event_Wait(event);
  for (InFlight& op : ops) {
    gex_Event_Wait(op.event);
    ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
  }
}

TEST(Collectives, OnOverlappingTeams) {
  // The whole job, its halves, its odd and even ranks, and one rank alone: of each a generator of
  // what is called, the same at its members.
  const auto me = static_cast<int>(rank());
  const auto half = static_cast<int>(size() / 2);
  const std::array<gex_TM_t, 4> teams = {split(0, -me), split(me < half ? 0 : 1, me),
                                         split(me % 2, -me), split(me, 0)};
  std::array<std::mt19937_64, 4> random;
  for (std::size_t i = 0; i < teams.size(); ++i) random[i].seed(i + 1);
  for (int round = 0; round < 3; ++round) {
    std::vector<InFlight> ops(80);
    for (std::size_t i = 0; i < ops.size(); ++i)
      start_random(ops[i], teams[i % teams.size()], random[i % teams.size()]);
    while (std::any_of(ops.begin(), ops.end(),
                       [](const InFlight& op) { return op.event != GEX_EVENT_INVALID; })) {
      std::vector<gex_Event_t> events;
      for (const InFlight& op : ops) events.push_back(op.event);
      gex_Event_WaitSome(events.data(), events.size(), 0);
      for (std::size_t i = 0; i < ops.size(); ++i) ops[i].event = events[i];
    }
    for (const InFlight& op : ops)
      ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
  }
  for (const gex_TM_t tm : teams) destroy(tm);
}

TEST(Collectives, OnMoreTeamsThanShareFlags) {
  std::vector<gex_TM_t> teams;
  for (int i = 0; i < 40; ++i)
    teams.push_back(split(0, i % 2 == 0 ? 0 : -static_cast<int>(rank())));
  std::vector<InFlight> ops(teams.size());
  std::mt19937_64 random(4);
  for (std::size_t i = 0; i < teams.size(); ++i) start_random(ops[i], teams[i], random);
  for (InFlight& op : ops) {
    gex_Event_Wait(op.event);
    ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
  }
  for (const gex_TM_t tm : teams) destroy(tm);
}

TEST(Collectives, OnASlotThatAnotherTeamHadBefore) {
  for (int i = 0; i < 12; ++i) {
    const gex_TM_t tm = split(static_cast<int>(rank() % 2), 0);
    std::mt19937_64 random(static_cast<unsigned>(i));
    for (int n = 0; n < i + 3; ++n) {
      InFlight op;
      start_random(op, tm, random);
      gex_Event_Wait(op.event);
      ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
    }
    destroy(tm);
  }
}

TEST(Collectives, OnATeamWithSeveralMembersInAProcess) {
  const AllRanks all_ranks;
  constexpr std::size_t members = every_source.size();
  const std::uint64_t all = members * size();
  for (const std::size_t count : {1, 700, 20000}) {
    std::array<std::vector<std::uint64_t>, members> sums, copies;
    std::vector<gex_Event_t> events;
    for (std::size_t i = 0; i < members; ++i) {
      const gex_TM_t tm = all_ranks.tm(every_source[i]);
      sums[i].assign(count, gex_TM_QueryRank(tm));
      copies[i].assign(count, gex_TM_QueryRank(tm));
      events.push_back(gex_Coll_ReduceToAllNB(tm, sums[i].data(), sums[i].data(), GEX_DT_U64, 8,
                                              count, GEX_OP_ADD, nullptr, nullptr, 0));
      events.push_back(gex_Coll_BroadcastNB(tm, static_cast<gex_Rank_t>(all - 1), copies[i].data(),
                                            copies[i].data(), count * 8, 0));
    }
    gex_Event_WaitAll(events.data(), events.size(), 0);
    for (std::size_t i = 0; i < members; ++i) {
      ASSERT_EQ(sums[i], std::vector<std::uint64_t>(count, all * (all - 1) / 2));
      ASSERT_EQ(copies[i], std::vector<std::uint64_t>(count, all - 1));
    }
  }
}

TEST(Collectives, DoNotWaitForThoseWhoHaveNotCalled) {
  // Each starts, and only then notifies the next: no rank comes through if a call waits.
  auto* const flag = reinterpret_cast<std::uint32_t*>(own_segment());
  *flag = 0;
  barrier();
  std::uint64_t mine = rank() + 1;
  std::uint64_t sum = 0;
  std::uint64_t first = 0;
  std::vector<std::byte> bytes(40000);
  if (rank() != 0) WAIT_UNTIL(look_at<std::uint32_t>(flag) == 1);
  const std::array<gex_Event_t, 3> started = {
      gex_Coll_ReduceToAllNB(team(), &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr, nullptr,
                             0),
      gex_Coll_BroadcastNB(team(), size() - 1, bytes.data(), bytes.data(), bytes.size(), 0),
      gex_Coll_BroadcastNB(team(), 0, &first, &mine, sizeof first, 0)};
  const std::uint32_t go = 1;
  if (rank() + 1 < size())
    gex_RMA_PutBlocking(team(), rank() + 1, segment_of(rank() + 1), &go, sizeof go, 0);
  for (const gex_Event_t event : started) gex_Event_Wait(event);
  EXPECT_EQ(sum, std::uint64_t{size()} * (size() + 1) / 2);
  EXPECT_EQ(first, 1U);
}

TEST(Collectives, ComeTrueForTestWithPolling) {
  for (int i = 0; i < 30; ++i) {
    std::uint64_t mine = rank();
    std::uint64_t greatest = 0;
    gex_Event_t event = gex_Coll_ReduceToAllNB(team(), &greatest, &mine, GEX_DT_U64, 8, 1,
                                               GEX_OP_MAX, nullptr, nullptr, 0);
    retry([&] { return gex_Event_Test(event) == GASNET_OK; });
    ASSERT_EQ(greatest, size() - 1U);
  }
}

TEST_WITH_THREADS(Collectives, StartedAndFinishedByDifferentThreads) {
  for (int i = 0; i < 20; ++i) {
    std::vector<std::uint64_t> values(i % 2 == 0 ? 1 : 3000, rank());
    gex_Event_t event = GEX_EVENT_INVALID;
    std::thread([&] {
      event = gex_Coll_ReduceToAllNB(team(), values.data(), values.data(), GEX_DT_U64, 8,
                                     values.size(), GEX_OP_ADD, nullptr, nullptr, 0);
    }).join();
    std::thread([&] { gex_Event_Wait(event); }).join();
    const std::uint64_t sum = std::uint64_t{size()} * (size() - 1) / 2;
    ASSERT_EQ(values, std::vector<std::uint64_t>(values.size(), sum));
  }
}

TEST_IN_PAR(Collectives, OnATeamForEachThread) {
  constexpr int threads = 3;
  std::vector<gex_TM_t> teams;
  for (int i = 0; i < threads; ++i)
    teams.push_back(split(0, i % 2 == 0 ? 0 : -static_cast<int>(rank())));
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      std::mt19937_64 random(static_cast<unsigned>(100 + i));
      for (int round = 0; round < 10; ++round) {
        std::vector<InFlight> ops(12);
        for (InFlight& op : ops) start_random(op, teams[static_cast<std::size_t>(i)], random);
        for (InFlight& op : ops) {
          gex_Event_Wait(op.event);
          ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const gex_TM_t tm : teams) destroy(tm);
}

TEST_IN_PAR(Collectives, WaitedForByManyThreads) {
  std::mt19937_64 random(7);
  std::vector<InFlight> ops(60);
  for (InFlight& op : ops) start_random(op, team(), random);
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < 3; ++i)
    running.emplace_back([&, i] {
      for (std::size_t at = i; at < ops.size(); at += 3) gex_Event_Wait(ops[at].event);
    });
  for (std::thread& thread : running) thread.join();
  for (const InFlight& op : ops)
    ASSERT_TRUE(same_bytes(op.destination.data(), op.expected.data(), op.expected.size()));
}

}  // namespace
}  // namespace conformance::coll_test
