#pragma once
// Datagrams that are handed to the kernel together: one call for all of them, and packets of one
// size to one peer as one batch that the kernel cuts, where it can.
//
// What it does not take now is marked as lost, and so sent again by a later poll.
//
// Thread rules: one thread at a time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "net/udp/packet.h"
#include "net/udp/peer.h"
#include "net/udp/seal.h"
#include "net/udp/socket.h"

namespace gex::net::udp {

class Burst {
 public:
  Burst(Socket& socket, const Seal& seal) : socket_(socket), seal_(seal) {}

  /// Seals it with this header and adds it. What is sent again is a copy of the payload: where
  /// other threads or processes write to its memory, the datagram may not be what was sealed, and
  /// is refused.
  void add(Peer& peer, Packet& packet, Header header, Time now);
  /// Adds a datagram that is not sequenced: a header and up to `max_rest` bytes.
  void add(Peer& peer, Header header, const void* rest, std::size_t rest_size);
  static constexpr std::size_t max_rest = sizeof(Record) + max_unacknowledged / 8;

  bool empty() const noexcept { return count_ == 0; }
  /// Hands all over.
  void send();

  std::uint64_t calls() const noexcept { return calls_; }
  std::uint64_t datagrams() const noexcept { return datagrams_; }

 private:
  static constexpr std::size_t max_outgoing = 64;
  static constexpr std::size_t max_packets = 256;
  static constexpr std::size_t max_copied = std::size_t{128} << 10;

  struct Sent {
    Packet* packet;
    Peer* peer;
    std::uint32_t outgoing;
  };
  struct Bare {
    alignas(16) std::byte bytes[sizeof(Header) + max_rest];
  };

  const std::byte* copy_of_payload(const Packet& packet);
  /// A datagram to there of the next pieces.
  Outgoing to(Peer& peer, std::uint32_t pieces);
  /// Room for another datagram of two pieces.
  void make_room();
  bool can_join(const Peer& peer, std::size_t size) const noexcept;

  Socket& socket_;
  const Seal& seal_;
  std::array<Outgoing, max_outgoing> outgoing_{};
  std::array<std::size_t, max_outgoing> bytes_{};
  std::array<bool, max_outgoing> closed_{};  ///< its last segment is shorter, or it is alone
  std::array<std::uint32_t, max_outgoing> segments_{};
  std::array<iovec, 2 * max_packets> pieces_{};
  std::array<Sent, max_packets> sent_{};
  std::array<Bare, max_outgoing> bare_{};
  std::unique_ptr<std::byte[]> copies_;  ///< of payloads; made when there is the first
  std::size_t copied_ = 0;
  std::size_t count_ = 0;  ///< of outgoing
  std::size_t piece_count_ = 0;
  std::size_t sent_count_ = 0;
  std::size_t bare_count_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t datagrams_ = 0;
};

}  // namespace gex::net::udp
