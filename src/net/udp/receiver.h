#pragma once
// `Receiver`: takes in datagrams of peers. A datagram is accepted once, whole, in any order, if
// there is room for what it holds; otherwise its sender repeats it. Puts go into segments, data of
// gets to where they belong, gets are answered, and messages wait where they lie until they are
// delivered.
//
//   receiver.receive(now);
//   while (receiver.arrivals(channel).count() != 0) {
//     const Arrival arrival = receiver.arrivals(channel).pop();
//     ...;                                       // what it names stays until it is released
//     receiver.release(arrival);
//   }
//
// Thread rules: one thread at a time.

#include <gex/plugin/conduit.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/kit/segments.h"
#include "net/udp/acknowledgements.h"
#include "net/udp/attendance.h"
#include "net/udp/counts.h"
#include "net/udp/directory.h"
#include "net/udp/endpoint_settings.h"
#include "net/udp/one_sided.h"
#include "net/udp/packer.h"
#include "net/udp/path_finder.h"
#include "net/udp/peer.h"
#include "net/udp/peers.h"
#include "net/udp/receive_buffers.h"
#include "net/udp/receive_room.h"
#include "net/udp/seal.h"
#include "net/udp/sender.h"
#include "net/udp/socket.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

class Receiver {
 public:
  /// The parts of the endpoint that it works with, which outlive it.
  struct EndpointParts {
    const Host& host;
    Socket& socket;
    Segments& segments;
    const Seal& seal;
    const EndpointSettings& settings;
    const Attendance& attendance;
    const PeerDirectory& directory;
    Peers& peers;
    ReceiveBuffers& buffers;
    ReceiveRoom& room;
    OneSided& one_sided;
    Acknowledgements& acknowledgements;
    PathFinder& paths;
    Packer& packer;
    Sender& sender;
    EndpointCounts& counts;
  };
  explicit Receiver(const EndpointParts& parts) : endpoint_(parts) {}
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Takes what has come, or a part of it; returns how many datagrams.
  std::size_t receive(Time now);
  /// Returns true if there may have been more when it was called last.
  bool was_full() const noexcept { return was_full_; }

  /// Messages that wait to be delivered.
  ArrivalQueue& arrivals(Channel channel) noexcept { return arrivals_[channel]; }
  /// One of them has been handled.
  void release(const Arrival& arrival) { endpoint_.buffers.release(*arrival.buffer); }

  /// Buffers for one call of Socket::receive, and for what is put together meanwhile.
  static constexpr std::size_t reserve = 16 + 8;

 private:
  static constexpr std::size_t max_places = 16;
  /// Datagrams of a peer of which fragments are kept.
  static constexpr std::size_t max_assemblies = 32;
  /// A peer has moved if everything new has come from another address for so long.
  static constexpr Time moves_after = 200'000'000;

  void handle_incoming(Incoming& place, ReceiveBuffers::Buffer& buffer, Time now);
  void handle_datagram(const Header& header, const std::byte* rest, ReceiveBuffers::Buffer& buffer,
                       const Incoming& place, Time now);
  /// Whose it is, and its number; null: not of this connection, or changed.
  Peer* sender_of(const Header& header, const std::byte* rest, std::size_t rest_size,
                  std::uint64_t& number);
  void follow(Peer& peer, const Address& from, bool is_copy, Time now);
  void handle_header(Peer& peer, const Header& header, const std::byte* rest, std::size_t rest_size,
                     bool is_newest, Time now);
  /// Takes what follows the header of a datagram that is not sequenced: a longer list of what has
  /// arrived there, or a probe of the path.
  void handle_unsequenced(Peer& peer, const Header& header, const std::byte* rest,
                          std::size_t rest_size, bool waited, Time now);
  /// Accepts nothing of a datagram: an acknowledgement without it leaves with this poll, and its
  /// sender repeats it.
  void refuse(Peer& peer);
  void handle_records(Peer& peer, const Header& header, const std::byte* rest,
                      std::size_t rest_size, ReceiveBuffers::Buffer& buffer, Time now);
  enum class Verdict : std::uint8_t { acceptable, no_room, malformed };
  /// Decides if all of it can be taken; changes nothing.
  Verdict inspect(const Peer& peer, const std::byte* rest, std::size_t rest_size,
                  const ReceiveBuffers::Buffer& buffer);
  /// Takes all of it. Requires that `inspect` has found it acceptable, under the same lock.
  void consume(Peer& peer, const std::byte* rest, std::size_t rest_size,
               ReceiveBuffers::Buffer& buffer, Time now);
  void handle_part(Peer& peer, Channel channel, const PartDetails& part, const std::byte* data,
                   std::size_t size);
  bool is_valid(const PartDetails& part, std::size_t size) const noexcept;
  void handle_fragment(Peer& peer, const Header& header, const std::byte* rest,
                       std::size_t rest_size, Time now);
  void answer(Peer& peer, const GetDetails& details, Time now);

  const EndpointParts endpoint_;
  std::array<ArrivalQueue, 2> arrivals_;
  std::array<Incoming, max_places> places_{};
  std::array<ReceiveBuffers::Buffer*, max_places> place_buffers_{};
  std::size_t places_wanted_ = 1;
  bool was_full_ = false;  ///< all places, in the last call
};

}  // namespace gex::net::udp
