#pragma once
// One socket and everything that goes over it: messages, puts and gets to all peers, each delivered
// once however the network treats its datagrams.
//
// A state machine: it makes no system call but through its Socket, and the time is an argument. Its
// parts have a state each:
//
//   Packer            messages and records in packets, and how many each peer may have
//   Sender            which packets leave when, what is in flight, what is sent again
//   Receiver          datagrams that come, and messages that wait to be delivered
//   Acknowledgements  what peers are sent of what has come
//   PathFinder        how large packets may be
//   OneSided          which puts and gets are under way
//   Burst             datagrams that are handed to the kernel together
//   Peers             what is kept of each peer (Peer), which the others work on
//
// A put takes this path. If it `is_copied`, the caller's memory is free at once
// (OneSided::complete_locally); else it is `local`, and `payload` of packets, until the last of
// them is acknowledged (`finish` completes `local_done`, then `done`):
//
//   Conduit::put               of this network: Udp::put (udp.cc), by gex/plugin/table.h
//   Lanes::own                 lanes.h: the thread's endpoint; Lanes::first for a put that only a
//                              flush reports
//   Endpoint::put              OneSided::begin_put makes a Stream of it
//     `is_copied` (packer.h)   Packer::add_put copies it into the peer's open packet, and
//                              OneSided::complete_locally completes `local_done`; Sender::added
//                              decides whether the packet leaves now
//     else                     Sender::queue; `cut_next` makes packets whose payload stays in place
//   Sender::transmit           as many packets as `departure_of` (departure.h) lets leave, those
//                              that were lost before new ones (`next_packet`): `add_to_burst`
//   Burst::add                 seals a packet, and puts it with others of the call
//   Sender::hand_over          Burst::send gives all to the Socket, before the lock is released; a
//                              full Burst is sent earlier
//
// What may not leave yet does in a later `transmit`: of Endpoint::poll (Sender::send_queued), or of
// a call that adds something.
//
// At the peer, in a poll (am/network.cc `poll_conduit`, Conduit::poll, Lanes::poll), which is
// Endpoint::poll of the thread's endpoint, and now and then of the others:
//
//   Receiver::receive          what the Socket has: `handle_incoming` takes joined datagrams one by
//                              one, and `handle_datagram` asks `sender_of` whose each is; those
//                              that the path does not carry whole come in fragments, which
//                              `handle_fragment` puts together
//   Acknowledgements::owe      the datagram is to be acknowledged
//   Receiver::handle_records   looks at all of it first (`inspect`): Segments::at checks that the
//                              memory is a segment's; then takes it (`consume`): the bytes are
//                              copied there. Then it counts as received, and as `accepted`: the
//                              last packet of a put asks for its acknowledgement in this poll
//                              (`acknowledge_now`)
//   Sender::transmit           if Streams wait for that peer: answers to gets, and puts of this
//                              process's, leave before handlers run
//   Acknowledgements::send_owed  at the end of the poll: what is due, unless a datagram to that
//                              peer has taken it along (`header_for`)
//
// And here again, in a poll:
//
//   Receiver::handle_header
//   Sender::take_header        `acknowledged` calls `done_with` for each packet that has arrived;
//                              then the window that the peer grants
//   OneSided::arrived          for each packet of the put; with the last, `finish` calls
//                              Host::complete
//   Sender::find_losses        what others have overtaken is sent again; so is, after a while, what
//                              nothing has acknowledged (Sender::look_at_timers)
//
// A message takes the same path but for its ends:
//
//   Conduit::buffer            optional, for the payload: Endpoint::buffer gives the client memory
//                              of a packet (Packer::build)
//   Conduit::send              Udp::send: Lanes::own, or Lanes::holder of such a payload
//   Endpoint::send             Packer::add_message copies it into the open packet of its channel;
//                              with a payload in a packet it is completed there (`add_built`);
//                              `add_parts` cuts one that is larger than a datagram
//   Sender::added              as for a put that is copied, and on from there
//
// At the peer:
//
//   Receiver::handle_records   `inspect`: ReceiveBuffers::may_hold decides if there is room for its
//                              channel; else all of the datagram is refused, and comes again.
//                              `consume`: the buffer is kept (`hold`), and the message is added to
//                              the ArrivalQueue of its channel; one in parts, which `handle_part`
//                              puts together, once its last has come
//   Endpoint::deliver          in the same poll or a later one, replies first: Host::deliver gets
//                              it where it lies; Receiver::release gives the buffer back
//
// And here again `done_with` gives the packet back (Packer::give_back).
//
// The channels do not block one another: each has packets of its own at the sender, its share of
// receive buffers at the receiver, and a receiver that has no room for requests reports that, while
// replies go on.
//
// Thread rules: as `Host::threaded` allows. `Host::deliver` is called without the lock, and
// `Host::complete` with it.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/spin_lock.h"
#include "net/kit/segments.h"
#include "net/udp/acknowledgements.h"
#include "net/udp/attendance.h"
#include "net/udp/burst.h"
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
#include "net/udp/receiver.h"
#include "net/udp/seal.h"
#include "net/udp/sender.h"
#include "net/udp/socket.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

class Endpoint {
 public:
  /// `directory` outlives it.
  Endpoint(const Host& host, Socket& socket, const Seal& seal, Segments& segments,
           const EndpointSettings& settings, const PeerDirectory& directory);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// False: there was no memory; the object must not be used.
  bool has_memory() const noexcept;

  // What is sent or put to a peer that has left counts as arrived; a get from there is not
  // answered.

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces, Time now);
  std::size_t poll(std::uint32_t channels, std::size_t max, Time now);
  /// Returns true if the caller, which has polled just now and found nothing, may sleep until a
  /// datagram comes: not if some have come since it asked last. `until`: at most until then, which
  /// becomes earlier if there is something to be sent before.
  bool may_wait(Time now, Time& until);
  /// As a conduit's.
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size);
  void release(void* payload);
  /// Returns true if a buffer of this endpoint's begins at that address, which may be any.
  bool may_have_built(const void* payload) const noexcept {
    return packer_.may_have_built(payload);
  }

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done, Time now);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done, Time now);
  SendResult flush(std::uint32_t peer, void* done);

  /// This memory, whose segment has been removed, is about to go: it is neither read nor written
  /// any more once this returns. Gets of it have been completed, if perhaps their last
  /// acknowledgements have not arrived; one that has not, against the rules, receives zeroes.
  void forget(const Segments::Range& memory);

  // The process leaves: no other call is in progress.

  /// Returns true if everything that was accepted has been acknowledged by peers that have not
  /// left.
  bool is_quiet() const noexcept;
  /// Before the process leaves: what peers have not acknowledged is repeated soon.
  void shorten_waits() noexcept { sender_.shorten_waits(); }
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
    const Peer* const known = peers_.find(peer);
    return known != nullptr ? known->received.next_expected() : 0;
  }
  const Burst& burst() const noexcept { return burst_; }
  /// The result of the search of the way to a peer: `search.rounds()` is 0 where there is no
  /// search, as there is none to peers that were silent.
  PathSearch path_to(std::uint32_t peer) const noexcept {
    const Peer* const known = peers_.find(peer);
    return known != nullptr ? known->search : PathSearch();
  }
  /// Peers with which something was exchanged, or tried to be.
  std::size_t live_peers() const noexcept { return peers_.made().size(); }

 private:
  /// A lock that another thread holds is tried again after so long.
  static constexpr Time short_wait = 100'000;

  /// The time of a call, with the lock held. Threads may come to the lock in another order than
  /// they have read the clock; here it never goes back.
  Time advance_clock(Time now) noexcept { return now_ = std::max(now_, now); }
  void lock() noexcept {
    if (threaded_) lock_.lock();
  }
  void unlock() noexcept {
    if (threaded_) lock_.unlock();
  }

  // With the lock held.

  /// The peer, made if it was silent so far.
  Peer& peer_of(std::uint32_t rank) { return peers_.find_or_make(rank); }
  std::size_t deliver(std::uint32_t channels, std::size_t max);

  const Host& host_;
  const EndpointSettings settings_;
  const bool threaded_;
  SpinLock lock_;
  Time now_ = 0;

  EndpointCounts counts_;
  Attendance attendance_;
  ReceiveBuffers buffers_;
  ReceiveRoom room_;
  Burst burst_;
  OneSided one_sided_;
  Packer packer_;
  Peers peers_;
  Acknowledgements acknowledgements_;
  PathFinder paths_;
  Sender sender_;
  Receiver receiver_;
  std::uint64_t received_at_wait_ = 0;  ///< datagrams, at the last `may_wait`
  bool lacks_packets_ = false;          ///< for replies: requests wait for acknowledgements

  // Members that other threads may read.
  std::atomic<std::uint64_t> received_{0};
  std::atomic<bool> has_unacknowledged_{false};
};

}  // namespace gex::net::udp
