#pragma once
// Datagrams that are handed to the kernel together: one call for all of them, and packets of one
// size to one peer as one batch that the kernel cuts, where it can.
//
// What it does not take now is marked as lost, to be sent again. A packet may be acknowledged, and
// be used for something else, before it has been handed over: what is sent again is copied, and of
// each packet only its peer and its number are noted. A packet that is sent for the first time,
// whose bytes are not copied, stays until it has been handed over: see Sender::hand_over.
//
// Thread rules: one thread at a time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/round_up.h"
#include "net/udp/packet.h"
#include "net/udp/peer.h"
#include "net/udp/seal.h"
#include "net/udp/socket.h"

namespace gex::net::udp {

class Burst {
 public:
  /// `covers_bulk`: also the data of puts and gets that have a datagram of their own are
  /// authenticated.
  Burst(Socket& socket, const Seal& seal, bool covers_bulk)
      : socket_(socket), seal_(seal), covers_bulk_(covers_bulk) {}

  /// Seals it with this header and adds it. What is sent again is a copy. A first transmission may
  /// differ from what was sealed, if others write to its payload meanwhile, and be refused; the
  /// copy is not.
  void add(Peer& peer, Packet& packet, Header header, Time now);
  /// Adds a datagram that is not sequenced: a header and up to `max_rest` bytes.
  void add(Peer& peer, Header header, const void* rest, std::size_t rest_size);
  /// Adds a datagram that is not sequenced, filled with zeroes up to `size` bytes in all.
  void add_padded(Peer& peer, Header header, const void* rest, std::size_t rest_size,
                  std::size_t size);
  static constexpr std::size_t max_rest = sizeof(Record) + max_unacknowledged / 8;

  /// Datagrams that a packet of so many bytes takes.
  static std::size_t datagrams_of(const Peer& peer, std::size_t size) noexcept {
    if (size <= peer.path_bytes) return 1;
    return quotient_up(size - sizeof(Header), fragment_room(peer));
  }

  bool empty() const noexcept { return count_ == 0; }
  /// Hands all over.
  void send();
  /// Calls `use(peer)` for each of which packets have been refused since the last call.
  template <class Use>
  void for_refused(Use use) {
    for (Peer* peer : refused_) use(*peer);
    refused_.clear();
  }

  std::uint64_t calls() const noexcept { return calls_; }
  std::uint64_t datagrams() const noexcept { return datagrams_; }

 private:
  static constexpr std::size_t max_outgoing = 64;
  static constexpr std::size_t max_packets = 256;
  static constexpr std::size_t max_copied = std::size_t{128} << 10;

  struct Sent {
    Peer* peer;
    std::uint64_t transmission;
    std::uint32_t sequence;
    std::uint32_t outgoing;
  };
  struct Bare {
    alignas(16) std::byte bytes[sizeof(Header) + max_rest];
  };

  /// Room for so many bytes until the next `send`.
  std::byte* room_for_copy(std::size_t size);
  /// Adds a packet that is larger than the path carries, in fragments.
  void add_fragments(Peer& peer, const Packet& packet, const Header& header);
  static std::size_t fragment_room(const Peer& peer) noexcept {
    return (peer.path_bytes - front_size) / fragment_unit * fragment_unit;
  }
  /// A datagram of its own, with the bytes that follow its header.
  void add_alone(Peer& peer, Header& header, std::byte* bytes, std::size_t rest_size);
  /// Fills in what concerns this datagram alone. `rest`: what follows the header.
  void seal(Peer& peer, Header& header, std::span<const iovec> rest);
  /// A datagram to there of the next pieces.
  Outgoing to(Peer& peer, std::uint32_t pieces);
  /// Room for another datagram of two pieces.
  void make_room();
  bool can_join(const Peer& peer, std::size_t size) const noexcept;

  Socket& socket_;
  const Seal& seal_;
  const bool covers_bulk_;
  std::array<Outgoing, max_outgoing> outgoing_{};
  std::array<std::size_t, max_outgoing> bytes_{};
  std::array<bool, max_outgoing> closed_{};  ///< its last segment is shorter, or it is alone
  std::array<std::uint32_t, max_outgoing> segments_{};
  std::array<iovec, 2 * max_packets> pieces_{};
  std::array<Sent, max_packets> sent_{};
  std::vector<Peer*> refused_;
  std::array<Bare, max_outgoing> bare_{};
  std::unique_ptr<std::byte[]> copies_;  ///< of datagrams; made when there is the first
  std::size_t copied_ = 0;
  std::size_t count_ = 0;  ///< of outgoing
  std::size_t piece_count_ = 0;
  std::size_t sent_count_ = 0;
  std::size_t bare_count_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t datagrams_ = 0;
};

}  // namespace gex::net::udp
