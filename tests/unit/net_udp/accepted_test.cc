// The bytes of a datagram are in memory before anything that leaves acknowledges it: else its
// sender takes a put for complete that is not.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

template <class Value>
void append(std::vector<std::byte>& to, const Value& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

TEST(Accepted, IsWhatHasBeenTakenInEvenIfManyAnswersLeaveMeanwhile) {
  constexpr std::size_t gets = 150;
  constexpr std::uint32_t each = 1200;  // of which few share a datagram
  Ranks ranks(2, {.max_datagram = 9000}, {}, 0x1000);
  std::vector<std::byte> segment(std::size_t{1} << 16);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
  const auto address = reinterpret_cast<std::uint64_t>(segment.data());
  std::vector<std::byte> records;
  for (std::size_t i = 0; i < gets; ++i) {
    append(records, Record{0, RecordKind::get, {}});
    append(records, GetDetails{address, each, key.segment, 0, 0});
    records.resize(padded(records.size()));
  }
  Header header{};
  header.number = 1;
  header.window = 1000;
  header.flags = sequenced;
  header.size = static_cast<std::uint16_t>(sizeof header + records.size());
  const iovec rest{records.data(), records.size()};
  const SipKey way = ranks.seal.key_of(
      {.sender = 0, .sender_session = 0x1000, .receiver = 1, .receiver_session = 0x1001});
  header.tag = ranks.seal.tag(way, 0, &header, sizeof header, records.size(), std::span(&rest, 1));
  std::vector<std::byte> datagram;
  append(datagram, header);
  datagram.insert(datagram.end(), records.begin(), records.end());
  ranks.network.records = true;
  ranks.network.inject(1, datagram, SimulatedNetwork::address_of(0), /*at_once=*/true);
  ranks.poll(1);

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
