// Non-contiguous put and get: every metadata, form of completion and degenerate case, checked
// against the naive loop.

#include <gasnet_vis.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "../../naive_strided.h"
#include "message.h"
#include "transfer.h"

namespace conformance::vis_test {
namespace {

using Random = std::mt19937_64;

/// The form of a call and, for puts, whether local completion is asked for.
enum class Form { blocking, nb, nb_leaf, nbi, nbi_leaf, region };

std::string form_name(const testing::TestParamInfo<Form>& info) {
  constexpr const char* names[] = {"Blocking", "NB", "NBLeaf", "NBI", "NBILeaf", "Region"};
  return names[static_cast<int>(info.param)];
}

struct Calls {
  std::function<int(gex_Flags_t)> blocking;
  std::function<gex_Event_t(gex_Flags_t)> nb;
  std::function<int(gex_Flags_t)> nbi;
};

/// Makes the call in a form and waits until it is complete.
void complete(Form form, const Calls& calls) {
  switch (form) {
    case Form::blocking:
      ASSERT_EQ(calls.blocking(0), 0);
      return;
    case Form::nb:
      gex_Event_Wait(calls.nb(0));
      return;
    case Form::nb_leaf: {
      const gex_Event_t root = calls.nb(GEX_FLAG_ENABLE_LEAF_LC);
      gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
      gex_Event_Wait(root);
      return;
    }
    case Form::nbi:
      ASSERT_EQ(calls.nbi(0), 0);
      gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET, 0);
      return;
    case Form::nbi_leaf:
      ASSERT_EQ(calls.nbi(GEX_FLAG_ENABLE_LEAF_LC), 0);
      gex_NBI_Wait(GEX_EC_LC, 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      return;
    case Form::region:
      gex_NBI_BeginAccessRegion(0);
      ASSERT_EQ(calls.nbi(0), 0);
      gex_Event_Wait(gex_NBI_EndAccessRegion(0));
      return;
  }
}

using naive::naive_loop;
using naive::Strided;

/// The n-th 8 bytes of a pattern.
std::array<std::byte, 8> patterned_word(std::uint64_t seed, std::size_t n) {
  std::array<std::byte, 8> word;
  for (std::size_t byte = 0; byte < word.size(); ++byte) word[byte] = pattern(seed, 8 * n + byte);
  return word;
}

Calls strided_put(gex_TM_t tm, gex_Rank_t peer, const Strided& s, void* to, void* from) {
  const auto call = [=, &s](auto function) {
    return [=, &s](gex_Flags_t flags) {
      return function(tm, peer, to, s.remote.data(), from, s.local.data(), s.element,
                      s.count.data(), s.count.size(), flags);
    };
  };
  return {call(gex_VIS_StridedPutBlocking), call(gex_VIS_StridedPutNB),
          call(gex_VIS_StridedPutNBI)};
}
Calls strided_get(gex_TM_t tm, gex_Rank_t peer, const Strided& s, void* to, void* from) {
  const auto call = [=, &s](auto function) {
    return [=, &s](gex_Flags_t flags) {
      return function(tm, to, s.local.data(), peer, from, s.remote.data(), s.element,
                      s.count.data(), s.count.size(), flags);
    };
  };
  return {call(gex_VIS_StridedGetBlocking), call(gex_VIS_StridedGetNB),
          call(gex_VIS_StridedGetNBI)};
}

/// Both ends of a random transfer lie in areas of this size, the address in its middle.
constexpr std::size_t area = 128 * 1024;
constexpr std::size_t middle = area / 2;
constexpr std::byte guard{0xC3};

/// Strides without overlap, the dimensions in any order, with and without gaps, up or down; empty
/// if they reach beyond the area.
std::vector<std::ptrdiff_t> random_strides(Random& random, std::size_t element,
                                           const std::vector<std::size_t>& count) {
  std::vector<std::size_t> order(count.size());
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  std::vector<std::ptrdiff_t> strides(count.size());
  std::size_t stride = element;
  for (const std::size_t i : order) {
    if (random() % 3 == 0) stride += random() % 24;
    strides[i] = static_cast<std::ptrdiff_t>(stride) * (random() % 4 == 0 ? -1 : 1);
    stride *= count[i];
  }
  if (stride > middle) strides.clear();
  return strides;
}

Strided random_strided(Random& random) {
  constexpr std::size_t elements[] = {1, 2, 3, 4, 7, 8, 12, 16, 32, 64, 100};
  for (;;) {
    Strided strided;
    strided.element = elements[random() % std::size(elements)];
    strided.count.resize(1 + random() % 6);
    std::size_t left = 1500;
    for (std::size_t& count : strided.count) {
      count = random() % 3 == 0 ? 1 : 1 + random() % std::min<std::size_t>(left, 9);
      left /= count;
    }
    strided.remote = random_strides(random, strided.element, strided.count);
    strided.local =
        random() % 3 == 0 ? strided.remote : random_strides(random, strided.element, strided.count);
    if (!strided.remote.empty() && !strided.local.empty()) return strided;
  }
}

/// The transfer that a rank makes as its n-th.
Strided strided_of(gex_Rank_t by, unsigned n) {
  Random random(by * 1000 + n);
  return random_strided(random);
}

constexpr unsigned random_cases = 12;

class VisPut : public testing::TestWithParam<Form> {};
class VisGet : public testing::TestWithParam<Form> {};

TEST_P(VisPut, StridedMovesWhatTheNaiveLoopMoves) {
  const std::vector<std::byte> source = patterned(rank(), area);
  const std::vector<std::byte> sent = patterned(previous(), area);
  for (unsigned n = 0; n < random_cases; ++n) {
    std::memset(own_segment(), std::to_integer<int>(guard), area);
    barrier();
    const Strided mine = strided_of(rank(), n);
    std::vector<std::byte> from = source;
    complete(GetParam(),
             strided_put(team(), next(), mine, segment_of(next()) + middle, from.data() + middle));
    std::fill(from.begin(), from.end(), std::byte{0x11});
    barrier();
    std::vector<std::byte> expected(area, guard);
    const Strided theirs = strided_of(previous(), n);
    naive_loop(theirs, [&](std::ptrdiff_t to, std::ptrdiff_t at) {
      std::memcpy(expected.data() + middle + to, sent.data() + middle + at, theirs.element);
    });
    ASSERT_TRUE(same_bytes(own_segment(), expected.data(), area)) << "case " << n;
  }
}

TEST_P(VisGet, StridedMovesWhatTheNaiveLoopMoves) {
  fill(own_segment(), rank(), area);
  const std::vector<std::byte> there = patterned(next(), area);
  barrier();
  for (unsigned n = 0; n < random_cases; ++n) {
    const Strided mine = strided_of(rank(), n + 100);
    std::vector<std::byte> to(area, guard);
    complete(GetParam(),
             strided_get(team(), next(), mine, to.data() + middle, segment_of(next()) + middle));
    std::vector<std::byte> expected(area, guard);
    naive_loop(mine, [&](std::ptrdiff_t from, std::ptrdiff_t at) {
      std::memcpy(expected.data() + middle + at, there.data() + middle + from, mine.element);
    });
    ASSERT_TRUE(same_bytes(to.data(), expected.data(), area)) << "case " << n;
  }
}

/// Transfers of more than one message.
std::vector<Strided> large_transfers() {
  return {
      // Reflected transpose of 150 x 130.
      {8, {150, 130}, {8 * 130, 8}, {-8, 8 * 150}},
      // A box out of a larger one.
      {16, {20, 30, 25}, {32, 32 * 24, 32 * 24 * 33}, {16, 16 * 20, 16 * 20 * 30}},
      // Elements larger than any message.
      {150000, {3}, {200000}, {170000}},
      // Single bytes.
      {1, {300, 250}, {2, 700}, {3, 1000}},
  };
}
constexpr std::size_t large_area = 1500000;
/// The reflected dimension goes down from the address.
constexpr std::size_t large_start = 2000;

TEST_P(VisPut, OfMoreThanAMessage) {
  std::vector<std::byte> source = patterned(rank(), large_area);
  const std::vector<std::byte> sent = patterned(previous(), large_area);
  for (const Strided& strided : large_transfers()) {
    std::memset(own_segment(), std::to_integer<int>(guard), large_area);
    barrier();
    complete(GetParam(), strided_put(team(), next(), strided, segment_of(next()) + large_start,
                                     source.data() + large_start));
    barrier();
    std::vector<std::byte> expected(large_area, guard);
    naive_loop(strided, [&](std::ptrdiff_t to, std::ptrdiff_t at) {
      std::memcpy(expected.data() + large_start + to, sent.data() + large_start + at,
                  strided.element);
    });
    ASSERT_TRUE(same_bytes(own_segment(), expected.data(), large_area));
  }
}

TEST_P(VisGet, OfMoreThanAMessage) {
  fill(own_segment(), rank(), large_area);
  const std::vector<std::byte> there = patterned(next(), large_area);
  barrier();
  for (const Strided& strided : large_transfers()) {
    std::vector<std::byte> to(large_area, guard);
    complete(GetParam(), strided_get(team(), next(), strided, to.data() + large_start,
                                     segment_of(next()) + large_start));
    std::vector<std::byte> expected(large_area, guard);
    naive_loop(strided, [&](std::ptrdiff_t from, std::ptrdiff_t at) {
      std::memcpy(expected.data() + large_start + at, there.data() + large_start + from,
                  strided.element);
    });
    ASSERT_TRUE(same_bytes(to.data(), expected.data(), large_area));
  }
}

/// Pieces of an area in any order, with and without gaps, of `bytes` in all; some are empty, and
/// then at no address.
std::vector<gex_Memvec_t> random_blocks(Random& random, std::byte* start, std::size_t bytes) {
  std::vector<gex_Memvec_t> blocks;
  while (bytes != 0) {
    if (random() % 3 != 0) start += random() % 40;
    const std::size_t length =
        std::min<std::size_t>(bytes, random() % 8 == 0 ? random() % 900 : random() % 20);
    blocks.push_back({length == 0 ? nullptr : start, length});
    start += length;
    bytes -= length;
  }
  std::shuffle(blocks.begin(), blocks.end(), random);
  return blocks;
}

struct Lists {
  std::vector<gex_Memvec_t> peer;
  std::vector<gex_Memvec_t> own;
};
/// The vector transfer that a rank makes as its n-th, between a peer's area and its own.
Lists lists_of(gex_Rank_t by, unsigned n, std::byte* peer, std::byte* own) {
  Random random(by * 1000 + n);
  const std::size_t bytes = random() % (n % 3 == 0 ? 70000 : 3000);
  return {random_blocks(random, peer, bytes), random_blocks(random, own, bytes)};
}
constexpr std::size_t list_area = 512 * 1024;

/// Copies byte by byte what one list names to what the other does.
void naive_copy(const std::vector<gex_Memvec_t>& to, const std::vector<gex_Memvec_t>& from) {
  std::vector<std::byte> bytes;
  for (const gex_Memvec_t& block : from) {
    const auto* start = static_cast<const std::byte*>(block.gex_addr);
    bytes.insert(bytes.end(), start, start + block.gex_len);
  }
  const std::byte* next_byte = bytes.data();
  for (const gex_Memvec_t& block : to) {
    if (block.gex_len != 0) std::memcpy(block.gex_addr, next_byte, block.gex_len);
    next_byte += block.gex_len;
  }
}

TEST_P(VisPut, VectorMovesBetweenListsCutDifferently) {
  std::vector<std::byte> source = patterned(rank(), list_area);
  std::vector<std::byte> sent = patterned(previous(), list_area);
  for (unsigned n = 0; n < random_cases; ++n) {
    std::memset(own_segment(), std::to_integer<int>(guard), list_area);
    barrier();
    const Lists mine = lists_of(rank(), n, segment_of(next()), source.data());
    const auto call = [&](auto function) {
      return [&, function](gex_Flags_t flags) {
        return function(team(), next(), mine.peer.size(), mine.peer.data(), mine.own.size(),
                        mine.own.data(), flags);
      };
    };
    complete(GetParam(), {call(gex_VIS_VectorPutBlocking), call(gex_VIS_VectorPutNB),
                          call(gex_VIS_VectorPutNBI)});
    barrier();
    std::vector<std::byte> expected(list_area, guard);
    const Lists theirs = lists_of(previous(), n, expected.data(), sent.data());
    naive_copy(theirs.peer, theirs.own);
    ASSERT_TRUE(same_bytes(own_segment(), expected.data(), list_area)) << "case " << n;
  }
}

TEST_P(VisGet, VectorMovesBetweenListsCutDifferently) {
  fill(own_segment(), rank(), list_area);
  std::vector<std::byte> there = patterned(next(), list_area);
  barrier();
  for (unsigned n = 0; n < random_cases; ++n) {
    std::vector<std::byte> to(list_area, guard);
    std::vector<std::byte> expected(list_area, guard);
    const Lists mine = lists_of(rank(), n, segment_of(next()), to.data());
    const auto call = [&](auto function) {
      return [&, function](gex_Flags_t flags) {
        return function(team(), mine.own.size(), mine.own.data(), next(), mine.peer.size(),
                        mine.peer.data(), flags);
      };
    };
    complete(GetParam(), {call(gex_VIS_VectorGetBlocking), call(gex_VIS_VectorGetNB),
                          call(gex_VIS_VectorGetNBI)});
    const Lists naive = lists_of(rank(), n, there.data(), expected.data());
    naive_copy(naive.own, naive.peer);
    ASSERT_TRUE(same_bytes(to.data(), expected.data(), list_area)) << "case " << n;
  }
}

/// Blocks of one length in disjoint places of an area, in any order.
std::vector<void*> random_addresses(Random& random, std::byte* start, std::size_t count,
                                    std::size_t length) {
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    start += random() % 2 * (random() % 30);
    addresses.push_back(start);
    start += length;
  }
  std::shuffle(addresses.begin(), addresses.end(), random);
  return addresses;
}
std::vector<gex_Memvec_t> as_vector(const std::vector<void*>& addresses, std::size_t length) {
  std::vector<gex_Memvec_t> blocks;
  for (void* address : addresses) blocks.push_back({address, length});
  return blocks;
}

/// Numbers and lengths of the entries of both ends of an indexed transfer.
struct Cut {
  std::size_t peer_count, peer_length, own_count, own_length;
};
constexpr Cut cuts[] = {
    {1000, 8, 1000, 8}, {1, 6000, 750, 8},    {375, 16, 1, 6000}, {30, 24, 45, 16},
    {1, 1, 1, 1},       {40, 2500, 25, 4000}, {4000, 1, 1000, 4}, {0, 8, 7, 0},
};

TEST_P(VisPut, IndexedMovesBetweenListsOfAnyLengths) {
  std::vector<std::byte> source = patterned(rank(), list_area);
  std::vector<std::byte> sent = patterned(previous(), list_area);
  for (const Cut& cut : cuts) {
    std::memset(own_segment(), std::to_integer<int>(guard), list_area);
    barrier();
    Random random(rank());
    const auto to = random_addresses(random, segment_of(next()), cut.peer_count, cut.peer_length);
    const auto from = random_addresses(random, source.data(), cut.own_count, cut.own_length);
    const auto call = [&](auto function) {
      return [&, function](gex_Flags_t flags) {
        return function(team(), next(), to.size(), to.data(), cut.peer_length, from.size(),
                        from.data(), cut.own_length, flags);
      };
    };
    complete(GetParam(), {call(gex_VIS_IndexedPutBlocking), call(gex_VIS_IndexedPutNB),
                          call(gex_VIS_IndexedPutNBI)});
    barrier();
    std::vector<std::byte> expected(list_area, guard);
    Random same(previous());
    const auto there = random_addresses(same, expected.data(), cut.peer_count, cut.peer_length);
    const auto theirs = random_addresses(same, sent.data(), cut.own_count, cut.own_length);
    naive_copy(as_vector(there, cut.peer_length), as_vector(theirs, cut.own_length));
    ASSERT_TRUE(same_bytes(own_segment(), expected.data(), list_area));
  }
}

TEST_P(VisGet, IndexedMovesBetweenListsOfAnyLengths) {
  fill(own_segment(), rank(), list_area);
  std::vector<std::byte> there = patterned(next(), list_area);
  barrier();
  for (const Cut& cut : cuts) {
    std::vector<std::byte> here(list_area, guard);
    std::vector<std::byte> expected(list_area, guard);
    Random random(rank());
    const auto from = random_addresses(random, segment_of(next()), cut.peer_count, cut.peer_length);
    const auto to = random_addresses(random, here.data(), cut.own_count, cut.own_length);
    const auto call = [&](auto function) {
      return [&, function](gex_Flags_t flags) {
        return function(team(), to.size(), to.data(), cut.own_length, next(), from.size(),
                        from.data(), cut.peer_length, flags);
      };
    };
    complete(GetParam(), {call(gex_VIS_IndexedGetBlocking), call(gex_VIS_IndexedGetNB),
                          call(gex_VIS_IndexedGetNBI)});
    Random same(rank());
    const auto source = random_addresses(same, there.data(), cut.peer_count, cut.peer_length);
    const auto target = random_addresses(same, expected.data(), cut.own_count, cut.own_length);
    naive_copy(as_vector(target, cut.own_length), as_vector(source, cut.peer_length));
    ASSERT_TRUE(same_bytes(here.data(), expected.data(), list_area));
  }
}

INSTANTIATE_TEST_SUITE_P(Vis, VisPut,
                         testing::Values(Form::blocking, Form::nb, Form::nb_leaf, Form::nbi,
                                         Form::nbi_leaf, Form::region),
                         form_name);
INSTANTIATE_TEST_SUITE_P(Vis, VisGet,
                         testing::Values(Form::blocking, Form::nb, Form::nbi, Form::region),
                         form_name);

TEST(Vis, NothingToMoveLooksAtNothing) {
  const std::ptrdiff_t strides[] = {8, 8};
  const std::size_t none[] = {5, 0};
  EXPECT_EQ(gex_VIS_StridedPutBlocking(GEX_TM_INVALID, 77, nullptr, nullptr, nullptr, nullptr, 0,
                                       nullptr, 5, 0),
            0);
  EXPECT_EQ(gex_VIS_StridedGetNBI(GEX_TM_INVALID, nullptr, nullptr, 77, nullptr, nullptr, 0,
                                  nullptr, 5, 0),
            0);
  EXPECT_EQ(
      gex_VIS_StridedPutNB(GEX_TM_INVALID, 77, nullptr, strides, nullptr, strides, 8, none, 2, 0),
      GEX_EVENT_INVALID);
  EXPECT_EQ(
      gex_VIS_StridedGetNB(GEX_TM_INVALID, nullptr, strides, 77, nullptr, strides, 8, none, 2, 0),
      GEX_EVENT_INVALID);
  // Nor for a process to report it.
  char notice = 0;
  gex_VIS_SetPeerCompletionHandler(200, &notice, 1, 0);
  EXPECT_EQ(gex_VIS_StridedPutNBI(GEX_TM_INVALID, 77, nullptr, strides, nullptr, strides, 0,
                                  nullptr, 2, 0),
            0);
  gex_VIS_SetPeerCompletionHandler(200, &notice, 1, 0);
  EXPECT_EQ(
      gex_VIS_StridedPutNBI(team(), size() + 77, nullptr, strides, nullptr, strides, 8, none, 2, 0),
      0);
  gex_VIS_SetPeerCompletionHandler(200, &notice, 1, 0);
  EXPECT_EQ(gex_VIS_StridedPutNBI(gex_TM_Pair(endpoint(), 0), size() + 77, nullptr, strides,
                                  nullptr, strides, 8, none, 2, 0),
            0);
  EXPECT_EQ(gex_VIS_VectorPutNB(team(), next(), 0, nullptr, 0, nullptr, 0), GEX_EVENT_INVALID);
  const gex_Memvec_t empty[] = {{nullptr, 0}, {nullptr, 0}};
  EXPECT_EQ(gex_VIS_VectorGetBlocking(team(), 2, empty, next(), 0, nullptr, 0), 0);
  EXPECT_EQ(gex_VIS_IndexedPutNBI(team(), next(), 4, nullptr, 0, 0, nullptr, 8, 0), 0);
  EXPECT_EQ(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC), GEX_EVENT_INVALID);
}

TEST(Vis, WithoutLevelsItIsOneElement) {
  fill(own_segment(), rank(), 5000);
  barrier();
  std::vector<std::byte> local(5000);
  EXPECT_EQ(gex_VIS_StridedGetBlocking(team(), local.data(), nullptr, next(), segment_of(next()),
                                       nullptr, 5000, nullptr, 0, 0),
            0);
  EXPECT_TRUE(holds(local.data(), next(), 5000));
  EXPECT_EQ(gex_VIS_StridedPutBlocking(team(), next(), segment_of(next()) + 8192, nullptr,
                                       local.data(), nullptr, 5000, nullptr, 0, 0),
            0);
  barrier();
  EXPECT_TRUE(holds(own_segment() + 8192, rank(), 5000));
}

TEST(Vis, ASourceMayBeReadSeveralTimes) {
  // Every place of the destination gets the one element of the source.
  const std::size_t count[] = {50, 4};
  const std::ptrdiff_t still[] = {0, 0};
  const std::ptrdiff_t spread[] = {16, 800};
  const std::uint64_t value = 0x0123456789abcdefU + rank();
  std::memcpy(own_segment() + 8192, &value, 8);
  barrier();
  std::uint64_t source = value;
  EXPECT_EQ(gex_VIS_StridedPutBlocking(team(), next(), segment_of(next()), spread, &source, still,
                                       8, count, 2, 0),
            0);
  std::vector<std::uint64_t> got(400);
  EXPECT_EQ(gex_VIS_StridedGetBlocking(team(), got.data(), spread, next(),
                                       segment_of(next()) + 8192, still, 8, count, 2, 0),
            0);
  barrier();
  for (std::size_t i = 0; i < 400; i += 2) {
    EXPECT_EQ(look_at<std::uint64_t>(own_segment() + 8 * i), 0x0123456789abcdefU + previous());
    EXPECT_EQ(got[i], 0x0123456789abcdefU + next());
    EXPECT_EQ(got[i + 1], 0U);
  }
}

TEST(Vis, StridesAndCountsMayBeOverwrittenAtOnce) {
  fill(own_segment(), rank(), list_area);
  barrier();
  std::vector<std::byte> local(list_area);
  std::vector<gex_Event_t> events;
  for (std::size_t n = 0; n < 30; ++n) {
    std::size_t count[] = {100, 10};
    std::ptrdiff_t here[] = {16, 1600};
    std::ptrdiff_t there[] = {160, 16};
    events.push_back(gex_VIS_StridedGetNB(team(), local.data() + 16 * 1000 * n, here, next(),
                                          segment_of(next()) + 16 * 1000 * n, there, 16, count, 2,
                                          0));
    count[0] = count[1] = 77777;
    here[0] = here[1] = there[0] = there[1] = -99999;
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  std::vector<std::byte> expected(list_area);
  for (std::size_t n = 0; n < 30; ++n)
    for (std::size_t i = 0; i < 100; ++i)
      for (std::size_t j = 0; j < 10; ++j)
        for (std::size_t byte = 0; byte < 16; ++byte)
          expected[16 * 1000 * n + 16 * i + 1600 * j + byte] =
              pattern(next(), 16 * 1000 * n + 160 * i + 16 * j + byte);
  EXPECT_TRUE(same_bytes(local.data(), expected.data(), list_area));
}

// With GEX_FLAG_ENABLE_LEAF_LC the source is the client's again before the put is complete.
TEST(Vis, SourcesMayBeOverwrittenAfterTheirLeaf) {
  constexpr std::size_t puts = 6;
  constexpr std::size_t elements = 9000;
  constexpr std::size_t stride = 2 * 8 * elements;
  static_assert(2 * puts * stride <= segment_bytes);
  const Strided strided{8, {elements}, {16}, {8}};
  std::vector<std::vector<std::byte>> sources(2 * puts);
  std::vector<gex_Event_t> roots;
  for (std::size_t i = 0; i < 2 * puts; ++i) {
    sources[i] = patterned(rank() * 100 + i, 8 * elements);
    const Calls put =
        strided_put(team(), next(), strided, segment_of(next()) + i * stride, sources[i].data());
    if (i < puts)
      roots.push_back(put.nb(GEX_FLAG_ENABLE_LEAF_LC));
    else
      ASSERT_EQ(put.nbi(GEX_FLAG_ENABLE_LEAF_LC), 0);
  }
  for (std::size_t i = 0; i < puts; ++i) {
    const gex_Event_t leaf = gex_Event_QueryLeaf(roots[i], GEX_EC_LC);
    EXPECT_EQ(gex_Event_QueryLeaf(roots[i], GEX_EC_LC), leaf);
    gex_Event_Wait(leaf);
    std::fill(sources[i].begin(), sources[i].end(), std::byte{0});
  }
  gex_NBI_Wait(GEX_EC_LC, 0);
  for (std::size_t i = puts; i < 2 * puts; ++i)
    std::fill(sources[i].begin(), sources[i].end(), std::byte{0});
  gex_Event_WaitAll(roots.data(), roots.size(), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
  for (std::size_t i = 0; i < 2 * puts; ++i)
    for (std::size_t n = 0; n < elements; ++n)
      ASSERT_TRUE(same_bytes(own_segment() + i * stride + 16 * n,
                             patterned_word(previous() * 100 + i, n).data(), 8))
          << "put " << i << ", element " << n;
}

TEST(Vis, ThirtyTwoDimensions) {
  Strided strided{4, {}, {}, {}};
  std::ptrdiff_t stride = 4;
  for (unsigned i = 0; i < 32; ++i) {
    const std::size_t count = i % 3 == 0 ? 2 : 1;
    strided.count.push_back(count);
    strided.remote.push_back(stride);
    stride *= static_cast<std::ptrdiff_t>(count);
  }
  // The own end has them the other way round.
  strided.local.resize(32);
  std::ptrdiff_t own = 4;
  for (unsigned i = 32; i-- > 0;) {
    strided.local[i] = own;
    own *= static_cast<std::ptrdiff_t>(strided.count[i]);
  }
  const auto bytes = static_cast<std::size_t>(own);
  const std::vector<std::byte> sent = patterned(previous(), bytes);
  std::vector<std::byte> source = patterned(rank(), bytes);
  barrier();
  complete(Form::nb, strided_put(team(), next(), strided, segment_of(next()), source.data()));
  barrier();
  std::vector<std::byte> expected(bytes);
  naive_loop(strided, [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    std::memcpy(expected.data() + to, sent.data() + from, 4);
  });
  EXPECT_TRUE(same_bytes(own_segment(), expected.data(), bytes));
}

TEST(Vis, OverATeamPair) {
  const Strided strided{8, {40}, {24}, {8}};
  std::vector<std::byte> source = patterned(rank(), 320);
  std::memset(own_segment(), 0, 1024);
  barrier();
  complete(Form::nbi, strided_put(gex_TM_Pair(endpoint(), 0), next(), strided, segment_of(next()),
                                  source.data()));
  barrier();
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t byte = 0; byte < 8; ++byte)
      ASSERT_EQ(own_segment()[24 * i + byte], pattern(previous(), 8 * i + byte));
}

TEST(Vis, ImmediateIsDoneOrRefusedWhole) {
  constexpr std::size_t calls = 60;
  constexpr std::size_t stride = 30000;
  const Strided strided{8, {1500}, {16}, {8}};
  std::vector<std::byte> source = patterned(rank(), 12000);
  barrier();
  std::vector<gex_Event_t> events;
  for (std::size_t i = 0; i < calls; ++i) {
    const Calls put =
        strided_put(team(), next(), strided, segment_of(next()) + i * stride, source.data());
    gex_Event_t event = GEX_EVENT_NO_OP;
    if (i % 2 == 0) {
      retry([&] {
        event = put.nb(GEX_FLAG_IMMEDIATE);
        return event != GEX_EVENT_NO_OP;
      });
      events.push_back(event);
    } else {
      retry([&] { return put.nbi(GEX_FLAG_IMMEDIATE) == 0; });
    }
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
  for (std::size_t i = 0; i < calls; ++i)
    for (std::size_t n = 0; n < 12000; ++n)
      ASSERT_EQ(own_segment()[i * stride + n / 8 * 16 + n % 8], pattern(previous(), n));
  std::vector<std::byte> got(12000);
  const Calls get = strided_get(team(), next(), strided, got.data(), segment_of(next()));
  retry([&] { return get.blocking(GEX_FLAG_IMMEDIATE) == 0; });
  EXPECT_TRUE(holds(got.data(), rank(), 12000));
  barrier();
}

// Peer completion.

constexpr std::size_t notice_area = 256 * 1024;
Count notices;
/// Errors that the handler has found.
Count wrong_notices;

/// The first word of a notice is the rank and the number of its put; the rest is a pattern.
struct NoticeHead {
  std::uint32_t put;
  std::uint32_t bytes;
};

void on_notice(gex_Token_t token, void* payload, std::size_t size) {
  gex_Token_Info_t info;
  const gex_TI_t known = gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_IS_REQ);
  if (info.gex_srcrank != previous()) ++wrong_notices;
  if ((known & GEX_TI_IS_REQ) != 0 && info.gex_is_req != 0) ++wrong_notices;
  NoticeHead head{0, 1};
  if (size >= sizeof head) {
    if (!is_aligned(payload, 8)) ++wrong_notices;
    std::memcpy(&head, payload, sizeof head);
    if (head.bytes != size) ++wrong_notices;
    const auto* rest = static_cast<const std::byte*>(payload) + sizeof head;
    if (!holds(rest, head.put, size - sizeof head)) ++wrong_notices;
    // The put is complete here.
    const auto* words = reinterpret_cast<const std::uint32_t*>(own_segment());
    for (std::size_t i = 0; i < notice_area / 8; ++i)
      if (words[2 * i] != head.put + i) {
        ++wrong_notices;
        break;
      }
  }
  ++notices;
}

const Handlers notice_handlers({entry(on_notice, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0,
                                      "vis: notice")});

TEST(VisPeerCompletion, ComesWhenThePutIsCompleteThere) {
  const Strided strided{4, {notice_area / 8}, {8}, {4}};
  std::vector<std::uint32_t> source(notice_area / 8);
  std::vector<void*> places;
  for (std::size_t i = 0; i < source.size(); ++i) places.push_back(segment_of(next()) + 8 * i);
  long expected = 0;
  for (const std::size_t size : {sizeof(NoticeHead), std::size_t{64}, GEX_VIS_MAX_PEERCOMPLETION}) {
    for (unsigned form = 0; form < 4; ++form) {
      const auto put = static_cast<std::uint32_t>(size * 100 + form);
      std::iota(source.begin(), source.end(), put);
      std::vector<std::byte> payload(size);
      const NoticeHead head{put, static_cast<std::uint32_t>(size)};
      std::memcpy(payload.data(), &head, sizeof head);
      fill(payload.data() + sizeof head, put, size - sizeof head);
      barrier();
      gex_VIS_SetPeerCompletionHandler(notice_handlers[0], payload.data(), size, 0);
      const Calls calls = strided_put(team(), next(), strided, segment_of(next()), source.data());
      void* const from = source.data();
      if (form == 3)
        gex_Event_Wait(gex_VIS_IndexedPutNB(team(), next(), places.size(), places.data(), 4, 1,
                                            &from, source.size() * 4, 0));
      else
        complete(form == 0 ? Form::blocking : form == 1 ? Form::nb_leaf : Form::nbi, calls);
      std::fill(payload.begin(), payload.end(), std::byte{0});
      ++expected;
      WAIT_UNTIL(notices.get() >= expected);
    }
  }
  barrier();
  EXPECT_EQ(wrong_notices.get(), 0);
  notices.reset();
  barrier();
}

TEST(VisPeerCompletion, IsForTheNextPutOnly) {
  const std::uint64_t value = 5;
  const gex_Memvec_t to{segment_of(next()), 8};
  const gex_Memvec_t from{const_cast<std::uint64_t*>(&value), 8};
  const auto put = [&] {
    EXPECT_EQ(gex_VIS_VectorPutBlocking(team(), next(), 1, &to, 1, &from, 0), 0);
  };
  barrier();
  gex_VIS_SetPeerCompletionHandler(notice_handlers[0], nullptr, 0, 0);
  // Not of this kind, so not the next.
  gex_RMA_PutBlocking(team(), next(), segment_of(next()), &value, 8, 0);
  put();
  WAIT_UNTIL(notices.get() >= 1);
  put();
  gex_VIS_SetPeerCompletionHandler(notice_handlers[0], nullptr, 0, 0);
  gex_VIS_SetPeerCompletionHandler(0, nullptr, 0, 0);
  put();
  gex_VIS_SetPeerCompletionHandler(notice_handlers[0], nullptr, 0, 0);
  EXPECT_EQ(gex_VIS_VectorPutBlocking(team(), next(), 0, nullptr, 0, nullptr, 0), 0);
  WAIT_UNTIL(notices.get() >= 2);
  barrier();
  EXPECT_EQ(notices.get(), 2);
  EXPECT_EQ(wrong_notices.get(), 0);
  notices.reset();
  barrier();
}

}  // namespace
}  // namespace conformance::vis_test
