// Datagrams made at random, many of them with a valid tag, as a peer that has lost its mind could
// send them: nothing is read or written but what they may, and the process goes on.
//
// UDP_FUZZ_PACKETS: how many; 100000 if it is not set.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

class Fuzzer {
 public:
  Fuzzer(const Seal& seal, std::uint64_t segment, std::size_t segment_size, std::uint32_t key)
      : seal_(seal), segment_(segment), segment_size_(segment_size), key_(key) {}

  std::vector<std::byte> packet(std::uint32_t& next) {
    std::vector<std::byte> bytes(sizeof(Header));
    const std::size_t records = random_.below(5);
    for (std::size_t i = 0; i < records; ++i) add_record(bytes);
    if (random_.below(8) == 0) bytes.resize(bytes.size() + random_.below(40), std::byte{0x5a});
    if (random_.below(8) == 0) bytes.resize(1 + random_.below(bytes.size()));
    if (bytes.size() < sizeof(Header)) return bytes;
    Header header{};
    // Now and then one that was used before.
    header.number = random_.below(50) == 0
                        ? number_ - static_cast<std::uint32_t>(random_.below(3000))
                        : ++number_;
    header.source = random_.below(50) == 0 ? number() & 0xffffffU : 0;
    // Mostly the next one in turn, so that it is looked into.
    header.sequence =
        random_.below(8) == 0 ? next + static_cast<std::uint32_t>(random_.below(2000)) - 500 : next;
    header.next_expected = random_.below(4) == 0 ? number() : 0;
    header.received = random_.below(4) == 0 ? number() : 0;
    header.window = static_cast<std::uint16_t>(random_());
    header.flags = static_cast<std::uint8_t>((random_() & 14U) | (random_.below(8) != 0 ? 1U : 0U));
    header.size = static_cast<std::uint16_t>(random_.below(50) == 0 ? random_() : bytes.size());
    const iovec rest{bytes.data() + sizeof header, bytes.size() - sizeof header};
    header.tag =
        seal_.tag(key_of_way_, 0, &header, sizeof header, rest.iov_len, std::span(&rest, 1));
    if (random_.below(20) == 0) header.tag ^= 1;
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }

 private:
  std::uint32_t number() {
    constexpr std::uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
    return random_.below(2) == 0 ? edges[random_.below(std::size(edges))]
                                 : static_cast<std::uint32_t>(random_());
  }
  std::uint32_t small_or_edge(std::uint64_t bound) {
    return random_.below(10) == 0 ? number() : static_cast<std::uint32_t>(random_.below(bound));
  }
  template <class T>
  static void append(std::vector<std::byte>& bytes, const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  std::uint64_t address() {
    return random_.below(10) == 0 ? random_() : segment_ + random_.below(segment_size_ + 100) - 20;
  }
  void add_record(std::vector<std::byte>& bytes) {
    const auto kind = static_cast<RecordKind>(random_.below(10));
    const std::uint32_t size = random_.below(3) == 0 ? 0 : small_or_edge(100);
    append(bytes, Record{size, kind, {}});
    switch (kind) {
      case RecordKind::request_part:
      case RecordKind::reply_part:
        append(bytes, PartDetails{static_cast<std::uint32_t>(random_.below(4)), small_or_edge(200),
                                  small_or_edge(150), 0, 0});
        break;
      case RecordKind::put:
        append(bytes, PutDetails{address(), random_.below(20) == 0 ? number() : key_, number(), 0});
        break;
      case RecordKind::get:
        append(bytes,
               GetDetails{address(), random_.below(10) == 0 ? random_() : random_.below(3000),
                          random_.below(20) == 0 ? number() : key_, number(), 0});
        break;
      case RecordKind::get_data:
        append(bytes, GetDataDetails{random_.below(3) == 0 ? random_() : random_.below(3000),
                                     small_or_edge(3), number(), 0});
        break;
      default:
        break;
    }
    bytes.resize(bytes.size() + (size < 1000 ? size : 0), std::byte{0xa5});
    bytes.resize(sizeof(Header) + padded(bytes.size() - sizeof(Header)));
  }

  const Seal& seal_;
  std::uint64_t segment_;
  std::size_t segment_size_;
  std::uint32_t key_;
  std::uint32_t number_ = 0;  ///< of the last datagram
  SipKey key_of_way_ = seal_.key_of(
      {.sender = 0, .sender_session = 0x1000, .receiver = 1, .receiver_session = 0x1001});
  Random random_{99};
};

TEST(Fuzz, NothingIsTouchedBesideWhatMayBe) {
  const char* const wanted = std::getenv("UDP_FUZZ_PACKETS");
  const long packets = wanted != nullptr ? std::atol(wanted) : 100'000;
  Ranks ranks(2, {.seed = 3, .delay = 0, .receive_buffer = 8 << 20});
  std::size_t delivered = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte> message) {
    EXPECT_LE(message.size(), Ranks::max_message);
    ++delivered;
  };
  std::vector<std::byte> memory(4096 + 2000);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(memory.data() + 1000, 4096, key));
  // What answers may be to: some gets that rank 0 has not made.
  std::vector<std::byte> got(3 * 1000);
  int done = 0;
  for (int i = 0; i < 3; ++i) {
    const Remote remote{0, &key, 0x1000};
    ASSERT_EQ(
        ranks.endpoints[1]->get(remote, got.data() + 1000 * i, 1000, &done, ranks.network.now),
        sent);
  }
  ranks.network.cut_off(0, true);
  Fuzzer fuzzer(ranks.seal, reinterpret_cast<std::uint64_t>(memory.data() + 1000), 4096,
                key.segment);
  std::uint32_t next = 0;
  for (long i = 0; i < packets; ++i) {
    const EndpointCounts before = ranks.endpoints[1]->counts();
    const std::vector<std::byte> packet = fuzzer.packet(next);
    ranks.network.inject(1, packet, SimulatedNetwork::address_of(0));
    ranks.poll(1);
    ranks.network.now += 1000;
    const EndpointCounts after = ranks.endpoints[1]->counts();
    ASSERT_GT(after.received, before.received);
    // The next one in turn was either accepted or refused.
    next = ranks.endpoints[1]->next_expected(0);
  }
  EXPECT_GT(delivered, static_cast<std::size_t>(packets) / 100);
  const EndpointCounts counts = ranks.endpoints[1]->counts();
  EXPECT_GT(counts.malformed, 0U);
  EXPECT_GT(counts.unauthenticated, 0U);
  EXPECT_GT(counts.duplicates, 0U);
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(memory[i], std::byte{0});
    ASSERT_EQ(memory[1000 + 4096 + i], std::byte{0});
  }
}

}  // namespace
}  // namespace gex::net::udp::test
