// The records that a rank keeps of segments, and of the parts of its own operations.

#include <cstdint>
#include <numeric>
#include <vector>

#include "conformance.h"
#include "core/event.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/published.h"
#include "core/team.h"
#include "core/thread.h"

namespace gex {
namespace {

using conformance::barrier;
using conformance::next;
using conformance::own_segment;
using conformance::previous;
using conformance::rank;
using conformance::segment_bytes;
using conformance::segment_of;
using conformance::size;

TEST(PublishedSegments, AreWhereTheirOwnersHaveThemAndMappedForNeighbors) {
  *own_segment() = static_cast<std::byte>(rank() + 1);
  barrier();
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const PublishedSegment segment = published_segment(conformance::endpoint()->address(), peer);
    const auto start = reinterpret_cast<std::uintptr_t>(segment_of(peer));
    EXPECT_EQ(segment.owner_address, start);
    EXPECT_TRUE(segment.contains(start + segment.size - 1, 1));
    EXPECT_FALSE(segment.contains(start + segment.size - 1, 2));
    EXPECT_FALSE(segment.contains(start - 1, 1));
    if (!process().neighborhood.contains(peer)) {
      EXPECT_EQ(segment.displacement(), GEX_NOT_MAPPED_);
      EXPECT_NE(segment.key, nullptr) << "the network's";
      continue;
    }
    ASSERT_NE(segment.mapped, nullptr);
    EXPECT_EQ(static_cast<gex_Rank_t>(*segment.mapped), peer + 1) << "other memory is mapped";
    EXPECT_EQ(static_cast<std::intptr_t>(start) + segment.displacement(),
              reinterpret_cast<std::intptr_t>(segment.mapped));
  }
  barrier();
}

TEST(Displacements, AreNotThereWhileTheyAreWithdrawnAndTheSameAfterwards) {
  Team& team = Team::from(conformance::team());
  const auto read = [&] {
    return std::vector<std::intptr_t>(team.displacements(), team.displacements() + size());
  };
  const std::vector<std::intptr_t> before = read();
  withdraw_displacements();
  EXPECT_EQ(read(), std::vector<std::intptr_t>(size(), GEX_NOT_MAPPED_));
  // Operations go on, as calls.
  const std::uint64_t value = rank() + 7;
  gex_RMA_PutBlocking(conformance::team(), next(), segment_of(next()), &value, sizeof value, 0);
  restore_displacements();
  EXPECT_EQ(read(), before);
  barrier();
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(own_segment()), previous() + 7);
}

TEST(ImplicitOperations, AreCountedByTheThreadUnlessARegionIsOpen) {
  ThreadRecord& thread = this_thread();
  ASSERT_EQ(thread.region, nullptr);
  const auto initiated = [](const Counters& counters) {
    return std::accumulate(counters.initiated, counters.initiated + ec_count, 0U);
  };
  std::vector<std::uint32_t> values(2048, rank());
  const auto put = [&] {
    gex_RMA_PutNBI(conformance::team(), next(), segment_of(next()), values.data(),
                   values.size() * sizeof values[0], GEX_EVENT_DEFER, 0);
    gex_RMA_GetNBI(conformance::team(), values.data(), next(), segment_of(next()), sizeof values[0],
                   0);
  };
  // Nothing is counted where memory is mapped: the operation is over in its call.
  const bool counts = !process().neighborhood.contains(next());
  const std::uint32_t before = initiated(thread.implicit);
  put();
  EXPECT_EQ(initiated(thread.implicit) != before, counts);
  EXPECT_EQ(&thread.implicit_counters(), &thread.implicit);

  const std::uint32_t outside = initiated(thread.implicit);
  gex_NBI_BeginAccessRegion(0);
  ASSERT_NE(thread.region, nullptr);
  Counters& inside = thread.region->counters;
  EXPECT_EQ(&thread.implicit_counters(), &inside);
  EXPECT_EQ(initiated(inside), 0U);
  put();
  EXPECT_EQ(initiated(inside) != 0, counts);
  EXPECT_EQ(initiated(thread.implicit), outside);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  EXPECT_EQ(thread.region, nullptr);

  gex_NBI_Wait(GEX_EC_ALL, 0);
  EXPECT_TRUE(thread.implicit.all_done());
}

}  // namespace
}  // namespace gex
