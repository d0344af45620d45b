#pragma once
// One socket and everything that goes over it: messages, puts and gets to all peers, each delivered
// once however the network treats its datagrams.
//
// A state machine: it makes no system call but through its Socket, and the time is an argument.
//
// To a peer: messages are added to the peer's open packet of their channel. It leaves at once when
// nothing to that peer is unacknowledged, else when it is full enough, at the next poll, or with an
// acknowledgement. What may be in flight is bounded by the receiver's window, by Congestion, and by
// the sequence numbers that a receiver keeps apart. Long puts and answers to gets are cut into
// packets as the window allows, straight from memory.
//
// From a peer: a datagram is accepted once, whole, in any order, if there is room for what it
// holds; otherwise its sender repeats it. Messages are delivered where they lie. An acknowledgement
// rides on whatever goes to the peer next; one of its own leaves at the end of a poll that found
// nothing to do, or at once if the sender waits for it.
//
// The channels do not block one another: each has packets of its own at the sender, its share of
// receive buffers at the receiver, and a receiver that has no room for requests reports that, while
// replies go on.
//
// Thread rules: as `Host::threaded` allows. `Host::deliver` is called without the lock, and
// `Host::complete` with it.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/spin_lock.h"
#include "net/kit/segments.h"
#include "net/udp/burst.h"
#include "net/udp/counts.h"
#include "net/udp/one_sided.h"
#include "net/udp/packet.h"
#include "net/udp/peer.h"
#include "net/udp/receive_buffers.h"
#include "net/udp/receive_room.h"
#include "net/udp/seal.h"
#include "net/udp/slabs.h"
#include "net/udp/socket.h"
#include "net/udp/transfers.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

/// What holds for all peers.
struct EndpointSettings {
  std::uint32_t session = 0;  ///< this process's
  /// Whether data of puts and gets are authenticated that fill a datagram by themselves. The same
  /// on all ranks.
  bool covers_bulk = true;
  std::size_t max_message = 0;    ///< bytes
  std::uint32_t depth = 0;        ///< messages of a channel held for a peer: `Limits::reply_depth`
  std::uint32_t total_depth = 0;  ///< for all peers, or 0
  std::size_t receive_memory = std::size_t{64} << 20;
  /// While others are in flight, packets leave when there are as many bytes as are in flight, but
  /// with no fewer than the first of these, and at the latest with the second.
  std::size_t bundle = 2048;
  std::size_t batch = 48000;
  Time shortest_timeout = 200'000;
};

/// What the ranks exchange of a peer.
struct PeerSettings {
  Address address;
  std::uint32_t session = 0;
  std::size_t datagram = 0;      ///< bytes of the largest to there
  PathLimits path{};             ///< where it is to be found out how much of that the way carries
  std::size_t first_window = 0;  ///< until it has reported its own
  Congestion::Settings congestion{};
  bool is_paced = false;  ///< the network may have a short queue
};

class Endpoint {
 public:
  Endpoint(const Host& host, Socket& socket, const Seal& seal, Segments& segments,
           const EndpointSettings& settings, std::span<const PeerSettings> peers);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// False: there was no memory; the object must not be used.
  bool has_memory() const noexcept;

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces, Time now);
  std::size_t poll(std::uint32_t channels, std::size_t most, Time now);
  /// Whether the caller, which has polled just now and found nothing, may sleep until a datagram
  /// comes: not if some have come since it asked last. `until`: at most until then, which becomes
  /// earlier if there is something to be sent before.
  bool may_wait(Time now, Time& until);
  /// As a conduit's.
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size);
  void release(void* payload);
  /// Whether a buffer of this endpoint's begins at that address, which may be any.
  bool may_have_built(const void* payload) const noexcept { return slabs_.holds(payload); }

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done, Time now);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done, Time now);
  SendResult flush(std::uint32_t peer, void* done);

  /// This memory is about to go; nothing is read there any more. Gets of it have been completed, if
  /// perhaps their last acknowledgements have not arrived.
  void forget(const Segments::Range& memory);

  // The process leaves: no other call is in progress.

  /// Whether everything that was accepted has been acknowledged by peers that have not left.
  bool is_quiet() const noexcept;
  /// Informs the peers with which messages were exchanged that nothing more comes.
  void send_farewells(Time now);
  /// Ends the job when packets are lost or counted twice, if nothing is under way.
  void check_invariants() const;

  EndpointCounts counts() const noexcept;
  /// Beside other calls: waits for none of them, so some may be counted in part.
  EndpointCounts counts_now() noexcept;
  /// Datagrams that have come, and whether peers have something that they have not acknowledged.
  /// Hints, which any thread may ask for.
  std::uint64_t received() const noexcept { return received_.load(std::memory_order_relaxed); }
  bool has_unacknowledged() const noexcept {
    return has_unacknowledged_.load(std::memory_order_relaxed);
  }
  /// The first sequence number of a peer's that has not arrived.
  std::uint32_t next_expected(std::uint32_t peer) const noexcept {
    return peers_[peer].received.next_expected();
  }
  const Burst& burst() const noexcept { return burst_; }
  /// What has been found out of the way to a peer: `search.rounds()` is 0 where there is no search.
  const PathSearch& path_to(std::uint32_t peer) const noexcept { return peers_[peer].search; }

 private:
  /// Places for one call of Socket::receive.
  static constexpr std::size_t max_places = 16;
  static constexpr std::size_t reserve = max_places + 8;
  /// After so long without a poll, how long something took is no measure of the network.
  static constexpr Time away = 500'000;
  /// What another thread or the system holds up is looked at again after so long.
  static constexpr Time short_wait = 100'000;
  /// After so long without a first answer, and so many repetitions, a warning is printed.
  static constexpr Time silence = 10'000'000'000;
  static constexpr std::uint32_t repetitions_in_silence = 16;
  /// What has been sent so often may be too large for the way; after so many timeouts in a row,
  /// too.
  static constexpr std::uint8_t suspect_transmissions = 3;
  static constexpr std::uint32_t suspect_timeouts = 2;
  /// Datagrams of a peer of which fragments are kept.
  static constexpr std::size_t max_assemblies = 32;
  /// A peer has moved if everything new has come from another address for so long.
  static constexpr Time moves_after = 200'000'000;
  /// Puts and answers to gets of so many bytes are copied into packets with others.
  static constexpr std::size_t copy_limit = 4096;

  /// The time of a call, with the lock held. Threads may come to the lock in another order than
  /// they have read the clock; here it never goes back.
  Time advance_clock(Time now) noexcept { return now_ = std::max(now_, now); }
  void lock() noexcept {
    if (threaded_) lock_.lock();
  }
  void unlock() noexcept {
    if (threaded_) lock_.unlock();
  }

  // endpoint_send.cc: all with the lock held.

  /// Gives the system all that is to be sent. Before the lock is released, and before packets that
  /// have not been sent yet are given back: nothing is sent from memory of which others dispose.
  void hand_over();
  SendResult send_whole(Channel channel, Peer& peer, std::span<const Piece> pieces,
                        std::size_t size, Time now);
  void send_built(Channel channel, Peer& peer, Packet& packet, std::span<const Piece> pieces,
                  std::size_t size, Time now);
  SendResult send_parts(Channel channel, Peer& peer, std::span<const Piece> pieces,
                        std::size_t size, Time now);
  /// The open packet, with room for a record of `size` bytes in all; null: there is no room now.
  Packet* room_for_record(Peer& peer, Traffic traffic, std::size_t size);
  void close(Peer& peer, Traffic traffic);
  /// So many bytes were added to what is to be sent.
  void added(Peer& peer, std::size_t bytes, Time now);
  /// Sends what the windows allow.
  void transmit(Peer& peer, Time now);
  Packet* next_packet(Peer& peer, Time now);
  Packet* cut_next(Peer& peer);
  static bool may_request(Peer& peer, Time now) noexcept;
  static bool may_send(Peer& peer, std::size_t charge) noexcept;
  void put_on_wire(Peer& peer, Packet& packet, Time now);
  void acknowledge(Peer& peer);
  Header header_for(Peer& peer, std::uint8_t flags) noexcept;
  void mark_busy(Peer& peer);
  void mark_timed(Peer& peer, Time now);
  /// What the receiver's kernel takes for a packet.
  std::uint32_t charge_of(const Peer& peer, std::size_t size) const noexcept;
  /// What a poll does after it has received and delivered.
  void end_poll(bool idle, Time now);
  void look_at_timers(Time now);
  /// When more may be sent to a peer for which something is queued, if nothing comes from there.
  static Time resumes_at(const Peer& peer, Time now) noexcept;
  void look_for_silence(Peer& peer, Time now);
  void done_with(Peer& peer, Packet& packet);
  void end_building(Packet& packet);

  // endpoint_receive.cc: all with the lock held.

  /// Returns how many datagrams have come.
  std::size_t receive(Time now);
  void take_place(Incoming& place, ReceiveBuffers::Buffer& buffer, Time now);
  void take_datagram(const Header& header, const std::byte* rest, ReceiveBuffers::Buffer& buffer,
                     const Incoming& place, Time now);
  /// Whose it is, and its number; null: not of this connection, or changed.
  Peer* sender_of(const Header& header, const std::byte* rest, std::size_t rest_size,
                  std::uint64_t& number);
  void follow(Peer& peer, const Address& from, bool is_copy, Time now);
  void take_acknowledgements(Peer& peer, const Header& header, const std::byte* rest,
                             std::size_t rest_size, bool is_newest, Time now);
  void acknowledged(Peer& peer, std::uint32_t next_expected, std::uint32_t bits,
                    std::uint32_t skipped, bool waited, Time now);
  void take_records(Peer& peer, const Header& header, const std::byte* rest, std::size_t rest_size,
                    ReceiveBuffers::Buffer& buffer, Time now);
  enum class Verdict : std::uint8_t { acceptable, no_room, malformed };
  Verdict inspect(const Peer& peer, const std::byte* rest, std::size_t rest_size,
                  const ReceiveBuffers::Buffer& buffer);
  void consume(Peer& peer, const std::byte* rest, std::size_t rest_size,
               ReceiveBuffers::Buffer& buffer, Time now);
  void take_part(Peer& peer, Channel channel, const PartDetails& part, const std::byte* data,
                 std::size_t size);
  bool is_valid(const PartDetails& part, std::size_t size) const noexcept;
  std::size_t deliver(std::uint32_t channels, std::size_t most);
  std::uint32_t rank_of(const Peer& peer) const noexcept {
    return static_cast<std::uint32_t>(&peer - peers_.data());
  }

  // endpoint_path.cc: all with the lock held.

  void begin_search(Peer& peer, Time now);
  /// Datagrams of this size may not arrive at the peer.
  void suspect(Peer& peer, std::size_t size, Time now);
  void search_paths(Time now);
  void use_path(Peer& peer);
  void take_probe(Peer& peer, const ProbeDetails& probe);
  void take_probe_answer(Peer& peer, const ProbeDetails& probe, Time now);
  void take_fragment(Peer& peer, const Header& header, const std::byte* rest, std::size_t rest_size,
                     Time now);

  // endpoint_transfers.cc: all with the lock held.

  SendResult put_small(Peer& peer, Transfer& transfer, Time now);
  void begin_answer(Peer& peer, const GetDetails& details, Time now);
  /// A copy, with other records in one packet; false: there is no room for it now.
  bool answer_small(Peer& peer, const GetDetails& details, const std::byte* memory, Time now);

  const Host& host_;
  Socket& socket_;
  Segments& segments_;
  const EndpointSettings settings_;
  const Seal& seal_;
  const bool threaded_;
  SpinLock lock_;
  Time now_ = 0;

  std::vector<Peer> peers_;
  const std::uint32_t max_parts_;  ///< packets of the largest message to any peer
  Slabs slabs_;
  PacketPool stream_packets_;
  OneSided one_sided_;
  Burst burst_;
  std::vector<Peer*> busy_;  ///< with something to be sent
  /// Messages and parts of them; those after the first few are gathered.
  std::uint32_t sends_since_poll_ = 0;
  Time last_added_ = 0;  ///< the last of them
  std::uint64_t calls_at_last_added_ = 0;
  Time last_gathered_out_ = 0;  ///< when all that was gathered has left
  std::vector<Peer*> owed_;     ///< to be sent an acknowledgement
  std::vector<Peer*> timed_;    ///< with something unacknowledged
  std::vector<Peer*> searching_;
  Time next_timer_ = ~Time{0};

  ReceiveBuffers buffers_;
  ReceiveRoom room_;
  std::array<ArrivalQueue, 2> arrivals_;
  std::array<Incoming, max_places> places_{};
  std::array<ReceiveBuffers::Buffer*, max_places> place_buffers_{};
  std::size_t places_wanted_ = 1;
  Time last_poll_ = 0;
  std::uint64_t received_at_wait_ = 0;  ///< datagrams, at the last `may_wait`
  Time watched_until_ = 0;              ///< a thread sleeps until then, or until a datagram comes
  Time poll_before_ = 0;                ///< the one before the last
  Time absence_ = 0;            ///< without polls, for which what is received now may have waited
  bool was_full_ = false;       ///< all places, in the last call
  bool lacks_packets_ = false;  ///< for replies: requests wait for acknowledgements
  bool requests_refused_ = false;  ///< of some peer, since there was room last
  bool has_warned_ = false;        ///< of a peer from which nothing has ever come

  EndpointCounts counts_;
  // What other threads may look at.
  std::atomic<std::uint64_t> received_{0};
  std::atomic<bool> has_unacknowledged_{false};
};

}  // namespace gex::net::udp
