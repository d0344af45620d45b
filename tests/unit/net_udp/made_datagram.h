#pragma once
// Datagrams with records of a test's own, sealed as by the rank that they are of.
//
//   MadeRecords records;
//   records.add(RecordKind::get, GetDetails{address, 8, key.segment, 0, 0});
//   arrive(ranks, records);

#include <cstring>
#include <span>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {

/// Records one after the other, as they stand behind a header.
class MadeRecords {
 public:
  template <class Details>
  void add(RecordKind kind, const Details& details, std::span<const std::byte> data = {}) {
    append(Record{static_cast<std::uint32_t>(data.size()), kind, {}});
    append(details);
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    bytes_.resize(padded(bytes_.size()));
  }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  template <class Value>
  void append(const Value& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }

  std::vector<std::byte> bytes_;
};

/// Has rank 1 take in a sequenced datagram of rank 0's, of ranks whose sessions begin at 0x1000.
inline void arrive(Ranks& ranks, const MadeRecords& records, std::uint32_t sequence = 0) {
  const std::vector<std::byte>& behind = records.bytes();
  Header header{};
  header.number = sequence + 1;
  header.sequence = sequence;
  header.window = 1000;
  header.flags = sequenced;
  header.size = static_cast<std::uint16_t>(sizeof header + behind.size());
  const iovec rest{const_cast<std::byte*>(behind.data()), behind.size()};
  const SipKey way = ranks.seal.key_of(
      {.sender = 0, .sender_session = 0x1000, .receiver = 1, .receiver_session = 0x1001});
  header.tag = ranks.seal.tag(way, 0, &header, sizeof header, behind.size(), std::span(&rest, 1));
  std::vector<std::byte> datagram(sizeof header);
  std::memcpy(datagram.data(), &header, sizeof header);
  datagram.insert(datagram.end(), behind.begin(), behind.end());
  ranks.network.inject(1, datagram, SimulatedNetwork::address_of(0), /*at_once=*/true);
  ranks.poll(1);
}

}  // namespace gex::net::udp::test
