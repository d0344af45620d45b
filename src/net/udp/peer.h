#pragma once
// The state that one process keeps of another, of both directions.

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/siphash.h"
#include "net/address.h"
#include "net/udp/congestion.h"
#include "net/udp/freshness.h"
#include "net/udp/linked_queue.h"
#include "net/udp/pacing.h"
#include "net/udp/packet.h"
#include "net/udp/path_search.h"
#include "net/udp/receive_buffers.h"
#include "net/udp/receive_room.h"
#include "net/udp/round_trip.h"
#include "net/udp/sequence.h"
#include "net/udp/stream.h"
#include "net/udp/unacknowledged.h"

namespace gex::net::udp {

/// A message of which parts have arrived.
struct Partial {
  std::uint32_t number;
  Channel channel;
  std::uint32_t total;
  std::uint32_t received;
  ReceiveBuffers::Buffer* buffer;
};

/// A datagram of which fragments have arrived.
struct Assembly {
  static constexpr std::size_t max_units = 65536 / fragment_unit;

  std::uint32_t sequence = 0;
  std::size_t missing = 0;  ///< units
  std::vector<std::byte> bytes;
  std::bitset<max_units> arrived;
};

struct Peer {
  std::uint32_t rank = 0;
  Address address;
  std::uint16_t route = 0;    ///< what `Socket::connect` has returned
  bool is_connected = false;  ///< it has been asked
  SipKey key_to{};            ///< of what goes there
  SipKey key_from{};          ///< of what comes from there
  PathSearch search;
  std::uint64_t searched_at = 0;       ///< `sent_number` when it last did something
  std::uint32_t path_bytes = ~0U;      ///< of the largest datagram that the way carries
  std::uint32_t least_datagram = 0;    ///< for which messages are built, if the way carries less
  std::uint32_t max_datagram = 0;      ///< for which there is room
  std::uint32_t message_datagram = 0;  ///< bytes of the largest one with messages
  std::uint32_t stream_payload = 0;    ///< bytes of payload in a datagram of a stream

  // State of what goes to the peer.
  std::uint64_t sent_number = 0;  ///< of the last datagram
  Unacknowledged unacknowledged;
  std::array<LinkedQueue<Packet>, traffic_kinds> ready;  ///< whole, to be sent
  std::array<Packet*, traffic_kinds> open{};             ///< to which the next record is added
  std::array<std::uint32_t, traffic_kinds> held{};       ///< packets of Slabs, until acknowledged
  std::size_t queued = 0;       ///< bytes of records in packets that are ready or open
  std::uint32_t gathered = 0;   ///< records added since the last `transmit`
  LinkedQueue<Stream> streams;  ///< to be cut into packets
  RoundTrip round_trip;
  Congestion congestion;
  Pacing pacing;
  std::size_t window = 0;        ///< what may be in flight, as its charge is counted there
  std::size_t first_window = 0;  ///< what may be, if it has granted nothing lately
  Time granted_at = 0;
  std::uint32_t highest_ack = 0;      ///< `next_expected` of the newest header that came from there
  Time unheard_since = 0;             ///< the first timeout, if nothing was ever acknowledged
  Time progressed_at = 0;             ///< when something was acknowledged, first sent, or repeated
  bool refuses_requests = false;      ///< as its newest header reports
  Time ask_again_at = 0;              ///< when to try a request although it refuses them
  std::uint32_t next_number[2] = {};  ///< of messages that are sent in parts

  // State of what comes from the peer.
  Freshness freshness;
  Time elsewhere_since = 0;  ///< since when all that is new has come from another address
  ReceivedSequence received;
  std::vector<Partial> partials;
  std::vector<Assembly> assemblies;
  /// Sequenced datagrams that have come since the last datagram that went there, and their charge.
  std::uint32_t unacknowledged_here = 0;
  std::size_t unacknowledged_here_charge = 0;
  bool acknowledgement_is_due = false;  ///< one of these asks for it, or was not accepted
  bool kept_waiting = false;            ///< some of these have waited, as this process did not poll
  bool was_stopped = false;             ///< the last datagram that went there refused requests
  bool is_gone = false;                 ///< it has left
  ReceiveRoom::Share share;             ///< of this process's receive buffer

  // Lists of the endpoint that it is in.
  bool is_busy = false;
  bool is_owed = false;
  bool is_timed = false;
  bool is_searching = false;

  /// Bytes that may be in flight: as many as both the peer and the way have room for.
  std::size_t send_window() const noexcept { return std::min(window, congestion.window()); }
  /// Bytes, or charge, of the largest packet to there that could be made smaller: small windows are
  /// not filled by a single datagram.
  std::size_t max_share() const noexcept { return window / 2; }
  /// Packets to there are as large as the way is found to carry now.
  void use_path() noexcept {
    if (search.size() != 0) path_bytes = search.size();
    message_datagram = std::clamp<std::uint32_t>(path_bytes & ~15U, least_datagram,
                                                 std::max(least_datagram, max_datagram));
    // A large payload is whole cache lines, so that copies are aligned alike.
    const std::uint32_t payload =
        path_bytes > front_size ? path_bytes - static_cast<std::uint32_t>(front_size) : 0;
    stream_payload = payload > 8192 ? payload & ~63U : payload;
  }
  bool has_queued() const noexcept {
    if (!streams.empty() || unacknowledged.lost() != 0) return true;
    for (std::size_t kind = 0; kind < traffic_kinds; ++kind)
      if (!ready[kind].empty() || open[kind] != nullptr) return true;
    return false;
  }
};

}  // namespace gex::net::udp
