// Collectives of so many bytes that neighbors copy straight from and to each other's memory: what
// lies in segments, in memory of other kinds, and in both.

#include <gasnet_coll.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "conformance.h"
#include "transfer.h"

namespace conformance::coll_direct_test {
namespace {

/// Memory that each rank takes from where a number, the same on all ranks, states: from its part of
/// the job's segment, from a segment that no other rank maps, or from the heap.
class Places {
 public:
  Places() {
    EXPECT_EQ(gex_Segment_Create(&unpublished_, client(), nullptr, bytes_each, GEX_MK_HOST, 0),
              GASNET_OK);
    next_[0] = own_segment();
    next_[1] = static_cast<std::byte*>(gex_Segment_QueryAddr(unpublished_));
    ends_ = {next_[0] + segment_bytes, next_[1] + bytes_each};
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() { gex_Segment_Destroy(unpublished_, 0); }

  std::byte* take(std::uint64_t which, std::size_t bytes) {
    const std::size_t from = (which + rank() * (which / 3)) % 3;
    const std::size_t whole = (bytes + 63) / 64 * 64;
    if (from < 2 && static_cast<std::size_t>(ends_[from] - next_[from]) >= whole) {
      next_[from] += whole;
      return next_[from] - whole;
    }
    heap_.emplace_back(bytes);
    return heap_.back().data();
  }

 private:
  static constexpr std::size_t bytes_each = segment_bytes;

  gex_Segment_t unpublished_ = GEX_SEGMENT_INVALID;
  std::array<std::byte*, 2> next_{};
  std::array<std::byte*, 2> ends_{};
  std::vector<std::vector<std::byte>> heap_;
};

/// Returns true if ranks of the job are neighbors, the same on all. Without, all goes by messages,
/// for which it makes no difference where the data lies: a few of the cases show that.
bool has_neighbors() {
  gex_Rank_t neighborhoods = 0;
  gex_System_QueryMyPosition(&neighborhoods, nullptr, nullptr, nullptr);
  return neighborhoods < size();
}

/// Around what is copied at once, and by one member or two.
constexpr std::array<std::size_t, 6> sizes = {8193, 16384, 49151, 65529, 200000, (1 << 20) + 3};

TEST(DirectBroadcast, FromEachKindOfMemoryToEach) {
  const std::uint64_t cases = has_neighbors() ? 12 : 4;
  for (std::uint64_t which = 0; which < cases; ++which) {
    Places places;
    for (const std::size_t bytes : sizes) {
      const auto root = static_cast<gex_Rank_t>((which + bytes) % size());
      const bool in_place = which % 2 == 0;
      const std::vector<std::byte> expected = patterned(bytes + which, bytes);
      std::byte* const to = places.take(which, bytes);
      std::byte* const from = in_place ? to : places.take(which / 2, bytes);
      std::fill_n(to, bytes, std::byte{7});
      if (rank() == root) std::copy(expected.begin(), expected.end(), from);
      gex_Event_Wait(gex_Coll_BroadcastNB(team(), root, to, from, bytes, 0));
      ASSERT_TRUE(same_bytes(to, expected.data(), bytes)) << bytes << " bytes from " << root;
      // The root may write to its source at once.
      if (rank() == root) std::fill_n(from, bytes, std::byte{9});
    }
    barrier();
  }
}

/// Joins pairs x -> a x + b: not commutative.
struct Map {
  std::uint64_t a;
  std::uint64_t b;
};
void join(const void* left, void* right, std::size_t count, const void*) {
  const auto* l = static_cast<const Map*>(left);
  auto* r = static_cast<Map*>(right);
  for (std::size_t i = 0; i < count; ++i) r[i] = {l[i].a * r[i].a, l[i].a * r[i].b + l[i].b};
}
Map map_of(gex_Rank_t rank, std::size_t i) {
  return {2 * (rank + i) + 3, rank * 7 + i};
}

/// Sums, and joined maps, of `count` elements; with the result in the place of the operand or not.
void reduce_and_check(Places& places, std::uint64_t which, std::size_t count, bool to_all) {
  const bool in_place = which % 2 == 0;
  const bool maps = which % 4 < 2;
  const auto root = static_cast<gex_Rank_t>((which + count) % size());
  const bool has_result = to_all || rank() == root;
  const std::size_t element = maps ? sizeof(Map) : sizeof(double);
  auto* const source = places.take(which, count * element);
  auto* const result = in_place ? source : places.take(which / 3, count * element);
  std::vector<std::byte> expected(count * element);
  for (std::size_t i = 0; i < count; ++i) {
    if (maps) {
      const Map mine = map_of(rank(), i);
      std::memcpy(source + i * element, &mine, element);
      Map joined = map_of(size() - 1, i);
      for (gex_Rank_t of = size() - 1; of-- > 0;) {
        const Map left = map_of(of, i);
        join(&left, &joined, 1, nullptr);
      }
      std::memcpy(expected.data() + i * element, &joined, element);
    } else {
      const double mine = static_cast<double>(i % 1000) + rank();
      std::memcpy(source + i * element, &mine, element);
      const double sum = static_cast<double>(i % 1000) * size() + size() * (size() - 1) / 2.0;
      std::memcpy(expected.data() + i * element, &sum, element);
    }
  }
  const std::vector<std::byte> given(source, source + count * element);
  const gex_DT_t type = maps ? GEX_DT_USER : GEX_DT_DBL;
  const gex_OP_t operation = maps ? GEX_OP_USER_NC : GEX_OP_ADD;
  std::byte* const to = has_result ? result : nullptr;
  gex_Event_Wait(to_all ? gex_Coll_ReduceToAllNB(team(), to, source, type, element, count,
                                                 operation, maps ? join : nullptr, nullptr, 0)
                        : gex_Coll_ReduceToOneNB(team(), root, to, source, type, element, count,
                                                 operation, maps ? join : nullptr, nullptr, 0));
  if (has_result) {
    ASSERT_TRUE(same_bytes(result, expected.data(), expected.size()))
        << count << " elements of " << element << " bytes, case " << which;
  }
  if (!has_result || !in_place) {
    ASSERT_TRUE(same_bytes(source, given.data(), given.size())) << "the operand was written";
  }
  // All may write to their operands at once.
  std::fill_n(source, count * element, std::byte{0xff});
}

TEST(DirectReductions, OfEachKindOfMemory) {
  const std::uint64_t cases = has_neighbors() ? 24 : 6;
  for (std::uint64_t which = 0; which < cases; ++which) {
    Places places;
    for (const std::size_t count : {1100, 5003, 70001})
      for (const bool to_all : {false, true}) reduce_and_check(places, which, count, to_all);
    barrier();
  }
}

struct InFlight {
  gex_Event_t event = GEX_EVENT_INVALID;
  std::byte* to = nullptr;
  std::vector<std::byte> expected;
};

TEST(DirectCollectives, ManyInFlight) {
  // Large and small ones, of which no rank waits for any before it has started all.
  std::mt19937_64 random(5);
  const int rounds = has_neighbors() ? 6 : 2;
  for (int round = 0; round < rounds; ++round) {
    Places places;
    std::vector<InFlight> ops(40);
    for (InFlight& op : ops) {
      const std::uint64_t kind = random() % 3;
      const std::size_t count = random() % 4 == 0 ? 5 : random() % 20000 + 1;
      const auto root = static_cast<gex_Rank_t>(random() % size());
      const std::uint64_t which = random() % 40;
      const std::uint64_t seed = random();
      const std::size_t bytes = count * sizeof(std::uint64_t);
      auto* const from = places.take(which, bytes);
      op.to = which % 2 == 0 ? from : places.take(which / 2, bytes);
      std::vector<std::uint64_t> mine(count);
      std::vector<std::uint64_t> sums(count);
      for (std::size_t i = 0; i < count; ++i) {
        mine[i] = (seed + (kind == 0 ? root : rank())) * (2 * i + 1);
        for (gex_Rank_t of = 0; of < size(); ++of) sums[i] += (seed + of) * (2 * i + 1);
      }
      if (kind != 0 || rank() == root) std::memcpy(from, mine.data(), bytes);
      const auto* const right =
          reinterpret_cast<const std::byte*>((kind == 0 ? mine : sums).data());
      if (kind != 2 || rank() == root) op.expected.assign(right, right + bytes);
      if (kind == 0)
        op.event = gex_Coll_BroadcastNB(team(), root, op.to, from, bytes, 0);
      else if (kind == 1)
        op.event = gex_Coll_ReduceToAllNB(team(), op.to, from, GEX_DT_U64, 8, count, GEX_OP_ADD,
                                          nullptr, nullptr, 0);
      else
        op.event = gex_Coll_ReduceToOneNB(team(), root, op.to, from, GEX_DT_U64, 8, count,
                                          GEX_OP_ADD, nullptr, nullptr, 0);
    }
    if (rank() % 2 == 1) std::reverse(ops.begin(), ops.end());
    for (InFlight& op : ops) {
      gex_Event_Wait(op.event);
      ASSERT_TRUE(same_bytes(op.to, op.expected.data(), op.expected.size()));
    }
    barrier();
  }
}

TEST(DirectBroadcast, ReleasesTheRootOnlyWhenAllHaveCopied) {
  // The root writes to its source as soon as its event is done, the others come late. More bytes
  // than a call copies.
  constexpr std::size_t bytes = 2500001;
  std::vector<std::byte> data(bytes);
  const int cases = has_neighbors() ? 20 : 4;
  for (int i = 0; i < cases; ++i) {
    const auto root = static_cast<gex_Rank_t>(i) % size();
    const auto seed = static_cast<std::uint64_t>(i);
    if (rank() == root) data = patterned(seed, bytes);
    if (rank() != root)
      for (int polls = 0; polls < 1000; ++polls) gasnet_AMPoll();
    gex_Event_Wait(gex_Coll_BroadcastNB(team(), root, data.data(), data.data(), bytes, 0));
    ASSERT_TRUE(holds(data.data(), seed, bytes));
    std::fill(data.begin(), data.end(), std::byte{1});
  }
}

}  // namespace
}  // namespace conformance::coll_direct_test
