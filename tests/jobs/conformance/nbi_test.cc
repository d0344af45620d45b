// Implicit operations: categories and access regions.

#include <algorithm>
#include <atomic>

#include "transfer.h"

namespace conformance::nbi_test {
namespace {

constexpr gex_EC_t every_category[] = {GEX_EC_GET, GEX_EC_PUT, GEX_EC_LC, GEX_EC_AM, GEX_EC_RMW};

std::atomic<int> arrived{0};
std::atomic<bool> damaged{false};
void take_medium(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
  if (!holds(payload, static_cast<std::uint64_t>(seed), bytes)) damaged = true;
  ++arrived;
}
const Handlers handlers({{0, handler(take_medium), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1,
                          nullptr, "take_medium"}});

TEST(Nbi, NothingStartedIsComplete) {
  for (const gex_EC_t category : every_category) {
    EXPECT_EQ(gex_NBI_Test(category, 0), GASNET_OK);
    gex_NBI_Wait(category, 0);
  }
  EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

TEST(Nbi, CategoriesAreDistinctBitsAndAllHoldsThem) {
  gex_EC_t together = 0;
  for (const gex_EC_t category : every_category) {
    EXPECT_NE(category, 0U);
    EXPECT_EQ(category & (category - 1), 0U);
    EXPECT_EQ(together & category, 0U);
    together |= category;
  }
  EXPECT_EQ(GEX_EC_ALL & together, together);
}

TEST(Nbi, TestComesTrueWithPolling) {
  std::vector<std::byte> source = patterned(rank() + 20, 100000);
  gex_RMA_PutNBI(team(), next(), segment_of(next()), source.data(), source.size(), GEX_EVENT_DEFER,
                 0);
  retry([] { return gex_NBI_Test(GEX_EC_PUT, 0) == GASNET_OK; });
  std::fill(source.begin(), source.end(), std::byte{0});
  barrier();
  EXPECT_TRUE(holds(own_segment(), previous() + 20, source.size()));
}

TEST(Nbi, GetsAreReadableAfterTheirCategoryWhateverThePutsDo) {
  fill(own_segment(), rank() + 30, 50000);
  barrier();
  const std::vector<std::byte> source = patterned(1, 50000);
  std::vector<std::byte> local(50000);
  for (int round = 0; round < 20; ++round) {
    gex_RMA_PutNBI(team(), next(), segment_of(next()) + 65536 + round * 50000, source.data(), 50000,
                   GEX_EVENT_DEFER, 0);
    std::fill(local.begin(), local.end(), std::byte{0});
    gex_RMA_GetNBI(team(), local.data(), next(), segment_of(next()), 50000, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    ASSERT_TRUE(holds(local.data(), next() + 30, 50000));
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
}

// After NBI_Wait(PUT) the data are in the target's memory: a flag written then must never be seen
// before them.
TEST(Nbi, PutsAreVisibleBeforeWhatFollowsTheirCategory) {
  constexpr int rounds = 60;
  auto* flag = reinterpret_cast<std::uint32_t*>(own_segment() + 2000000);
  auto* answer = reinterpret_cast<std::uint32_t*>(own_segment() + 2000064);
  *flag = *answer = 0;
  barrier();
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    const std::size_t bytes = 1 + round * 997 % 30000;
    const std::vector<std::byte> source = patterned(rank() * 1000 + round, bytes);
    gex_RMA_PutNBI(team(), next(), segment_of(next()), source.data(), bytes, GEX_EVENT_DEFER, 0);
    gex_RMA_PutNBI(team(), next(), segment_of(next()) + 100000, source.data(), bytes / 2,
                   GEX_EVENT_NOW, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_RMA_PutBlockingVal(team(), next(), segment_of(next()) + 2000000, round, 4, 0);
    WAIT_UNTIL(look_at<std::uint32_t>(flag) == round);
    ASSERT_TRUE(holds(own_segment(), previous() * 1000 + round, bytes)) << "round " << round;
    ASSERT_TRUE(holds(own_segment() + 100000, previous() * 1000 + round, bytes / 2));
    // Only when the reader has looked may the next round overwrite.
    gex_RMA_PutBlockingVal(team(), previous(), segment_of(previous()) + 2000064, round, 4, 0);
    WAIT_UNTIL(look_at<std::uint32_t>(answer) == round);
  }
}

TEST(Nbi, MediumRequestsCountAsMessages) {
  arrived = 0;
  damaged = false;
  barrier();
  std::vector<std::byte> source(500);
  for (gex_AM_Arg_t i = 0; i < 200; ++i) {
    fill(source.data(), static_cast<std::uint64_t>(i), 500);
    gex_AM_RequestMedium(team(), next(), handlers[0], source.data(), 500, GEX_EVENT_GROUP, 0, i);
    gex_NBI_Wait(GEX_EC_AM, 0);
    std::fill(source.begin(), source.end(), std::byte{0});
  }
  WAIT_UNTIL(arrived == 200);
  EXPECT_FALSE(damaged);
}

// Access regions

TEST(Region, WithoutOperationsIsComplete) {
  const std::vector<std::byte> source = patterned(rank() + 60, 20000);
  for (std::size_t i = 0; i < 5000; ++i) {
    // What is under way outside is no operation of the region, and still none when it has ended.
    const bool beside = i % 1000 == 0;
    std::byte* const to = segment_of(next()) + i / 1000 * 2 * source.size();
    if (beside)
      gex_RMA_PutNBI(team(), next(), to, source.data(), source.size(), GEX_EVENT_DEFER, 0);
    gex_NBI_BeginAccessRegion(0);
    const gex_Event_t event = gex_NBI_EndAccessRegion(0);
    EXPECT_EQ(gex_Event_Test(event), GASNET_OK);
    if (!beside) continue;
    gex_RMA_PutNBI(team(), next(), to + source.size(), source.data(), source.size(),
                   GEX_EVENT_DEFER, 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    barrier();
    for (std::size_t part = 0; part < 2; ++part) {
      const std::byte* const here = own_segment() + (i / 1000 * 2 + part) * source.size();
      EXPECT_TRUE(holds(here, previous() + 60, source.size())) << "part " << part;
    }
  }
  barrier();
}

TEST(Region, GathersEveryCategoryInOneEvent) {
  fill(own_segment() + 1000000, rank() + 70, 20000);
  arrived = 0;
  damaged = false;
  barrier();
  const std::vector<std::byte> source = patterned(rank() + 80, 20000);
  const std::vector<std::byte> message = patterned(3, 300);
  std::vector<std::byte> local(20000);
  for (int round = 0; round < 10; ++round) {
    std::fill(local.begin(), local.end(), std::byte{0});
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team(), next(), segment_of(next()), source.data(), 20000, GEX_EVENT_GROUP, 0);
    gex_RMA_PutNBI(team(), next(), segment_of(next()) + 20000, source.data(), 8, GEX_EVENT_DEFER,
                   0);
    gex_RMA_PutNBIVal(team(), next(), segment_of(next()) + 20008, 7, 1, 0);
    gex_RMA_GetNBI(team(), local.data(), next(), segment_of(next()) + 1000000, 20000, 0);
    gex_AM_RequestMedium(team(), next(), handlers[0], message.data(), 300, GEX_EVENT_GROUP, 0, 3);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    ASSERT_NE(root, GEX_EVENT_NO_OP);
    // They belong to the event alone.
    EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    for (const gex_EC_t category : every_category) {
      const gex_Event_t leaf = gex_Event_QueryLeaf(root, category);
      EXPECT_EQ(gex_Event_QueryLeaf(root, category), leaf);
      if (root != GEX_EVENT_INVALID) {
        EXPECT_NE(leaf, root);
      }
    }
    if (round % 2 == 0) {
      for (const gex_EC_t category : every_category) {
        gex_Event_Wait(gex_Event_QueryLeaf(root, category));
        if (category == GEX_EC_GET) {
          EXPECT_TRUE(holds(local.data(), next() + 70, 20000));
        }
      }
      gex_Event_Wait(root);
    } else {
      gex_Event_t all[6] = {root};
      for (int i = 0; i < 5; ++i) all[i + 1] = gex_Event_QueryLeaf(root, every_category[i]);
      if (round % 4 == 1) std::swap(all[0], all[5]);
      gex_Event_WaitAll(all, 6, 0);
      for (const gex_Event_t event : all) EXPECT_EQ(event, GEX_EVENT_INVALID);
    }
    EXPECT_TRUE(holds(local.data(), next() + 70, 20000));
  }
  barrier();
  EXPECT_TRUE(holds(own_segment(), previous() + 80, 20000));
  WAIT_UNTIL(arrived == 10);
  EXPECT_FALSE(damaged);
}

// A source is the client's again after the leaf of its category, before the region is complete.
TEST(Region, SourcesMayBeOverwrittenAfterTheirLeaf) {
  constexpr std::size_t bytes = 60000;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::byte> put = patterned(rank() * 10 + round, bytes);
    std::vector<std::byte> message = patterned(3, 300);
    arrived = 0;
    damaged = false;
    barrier();
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team(), next(), segment_of(next()), put.data(), bytes, GEX_EVENT_GROUP, 0);
    gex_AM_RequestMedium(team(), next(), handlers[0], message.data(), 300, GEX_EVENT_GROUP, 0, 3);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
    std::fill(put.begin(), put.end(), std::byte{0});
    gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_AM));
    std::fill(message.begin(), message.end(), std::byte{0});
    gex_Event_Wait(root);
    WAIT_UNTIL(arrived == 1);
    barrier();
    EXPECT_TRUE(holds(own_segment(), previous() * 10 + round, bytes)) << "round " << round;
    EXPECT_FALSE(damaged);
    barrier();
  }
}

TEST(Region, LeavesOperationsStartedBeforeItAlone) {
  const std::vector<std::byte> source = patterned(rank() + 90, 60000);
  gex_RMA_PutNBI(team(), next(), segment_of(next()), source.data(), 60000, GEX_EVENT_DEFER, 0);
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(team(), next(), segment_of(next()) + 60000, source.data(), 60000, GEX_EVENT_DEFER,
                 0);
  // Explicit operations are their own, inside a region too.
  const gex_Event_t explicit_put = gex_RMA_PutNB(team(), next(), segment_of(next()) + 120000,
                                                 source.data(), 60000, GEX_EVENT_DEFER, 0);
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_RMA_PutNBI(team(), next(), segment_of(next()) + 180000, source.data(), 60000, GEX_EVENT_DEFER,
                 0);
  gex_Event_Wait(explicit_put);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(region);
  barrier();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(holds(own_segment() + i * 60000, previous() + 90, 60000));
}

TEST(Region, ManyUnderWayAtOnce) {
  constexpr std::size_t regions = 300;
  const std::vector<std::byte> source = patterned(rank() + 15, 1000);
  std::vector<gex_Event_t> events;
  for (std::size_t r = 0; r < regions; ++r) {
    gex_NBI_BeginAccessRegion(0);
    for (std::size_t i = 0; i < 5; ++i)
      gex_RMA_PutNBI(team(), next(), segment_of(next()) + (r * 5 + i) * 1000, source.data(), 1000,
                     i % 2 == 0 ? GEX_EVENT_DEFER : GEX_EVENT_GROUP, 0);
    events.push_back(gex_NBI_EndAccessRegion(0));
  }
  while (!events.empty()) {
    gex_Event_Wait(events.back());
    events.pop_back();
  }
  barrier();
  for (std::size_t i = 0; i < regions * 5; ++i)
    ASSERT_TRUE(holds(own_segment() + i * 1000, previous() + 15, 1000)) << "put " << i;
}

TEST(Region, RefusedOperationsDoNotCount) {
  // IMMEDIATE inside a region: what was refused must not keep its event open.
  const std::uint64_t value = 5;
  for (int round = 0; round < 30; ++round) {
    gex_NBI_BeginAccessRegion(0);
    for (int i = 0; i < 200; ++i)
      static_cast<void>(gex_RMA_PutNBI(team(), next(), segment_of(next()) + 8 * i, &value, 8,
                                       GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE));
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  }
}

}  // namespace
}  // namespace conformance::nbi_test
