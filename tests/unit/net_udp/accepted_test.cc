// The bytes of a datagram are in memory before anything that leaves acknowledges it: else its
// sender takes a put for complete that is not.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "made_datagram.h"

namespace gex::net::udp::test {
namespace {

TEST(Accepted, IsWhatHasBeenTakenInEvenIfManyAnswersLeaveMeanwhile) {
  constexpr std::size_t gets = 150;
  constexpr std::uint32_t each = 1200;  // of which few share a datagram
  Ranks ranks(2, {.max_datagram = 9000}, {}, 0x1000);
  std::vector<std::byte> segment(std::size_t{1} << 16);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
  const auto address = reinterpret_cast<std::uint64_t>(segment.data());
  MadeRecords records;
  for (std::size_t i = 0; i < gets; ++i)
    records.add(RecordKind::get, GetDetails{address, each, key.segment, 0, 0});
  ranks.network.records = true;
  arrive(ranks, records);

  EXPECT_EQ(ranks.endpoints[1]->next_expected(0), 1U) << "it has been accepted";
  std::size_t before = 0;
  std::size_t after = 0;
  for (const auto& one : ranks.network.recorded) {
    Header sent_header{};
    std::memcpy(&sent_header, one.bytes.data(), sizeof sent_header);
    ++(sent_header.next_expected == 0 ? before : after);
  }
  EXPECT_GT(before, 0U) << "the test has no answers that leave while the datagram is taken in";
  EXPECT_GT(after, 0U);
}

}  // namespace
}  // namespace gex::net::udp::test
