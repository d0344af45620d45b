#pragma once
// `Sender`: sends packets to peers, and decides when they leave.
//
// A message, or another record, is added to a peer's open packet of its traffic (packer.h). It
// leaves at once, unless it is one of several in a row with others in flight: these are gathered
// until there is enough, or until the next poll (`added`). What may be in flight is bounded
// (departure.h). Long puts and answers to gets are cut into packets as that allows, straight from
// memory. A packet is kept until its peer has acknowledged it; what is lost is sent again.
//
//   if (const std::size_t bytes = packer.add_message(channel, peer, pieces, size); bytes != 0)
//     sender.added(peer, bytes, now);
//   sender.hand_over();                          // before the lock of the endpoint is released
//
// Thread rules: one thread at a time.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/kit/segments.h"
#include "net/udp/acknowledgements.h"
#include "net/udp/attendance.h"
#include "net/udp/burst.h"
#include "net/udp/counts.h"
#include "net/udp/endpoint_settings.h"
#include "net/udp/one_sided.h"
#include "net/udp/packer.h"
#include "net/udp/packet.h"
#include "net/udp/path_finder.h"
#include "net/udp/peer.h"
#include "net/udp/peers.h"
#include "net/udp/socket.h"
#include "net/udp/stream.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

class Sender {
 public:
  /// The parts of the endpoint that it works with, which outlive it.
  struct EndpointParts {
    const Host& host;
    const Socket& socket;
    const EndpointSettings& settings;
    const Attendance& attendance;
    Burst& burst;
    Packer& packer;
    OneSided& one_sided;
    Acknowledgements& acknowledgements;
    PathFinder& paths;
    EndpointCounts& counts;
  };
  explicit Sender(const EndpointParts& parts) : endpoint_(parts) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// False: there was no memory; the object must not be used.
  bool has_memory() const noexcept { return stream_packets_.has_memory(); }

  /// Records of so many bytes were added to what is to be sent there, and are sent now, unless they
  /// are gathered.
  void added(Peer& peer, std::size_t bytes, Time now);
  /// Its bytes are to be sent from where they are. They follow with the next `transmit`.
  void queue(Peer& peer, Stream& stream);
  /// Sends what the windows allow; to a peer that has left nothing: what is queued counts as
  /// arrived.
  void transmit(Peer& peer, Time now);
  /// Gives the system all that is to be sent. Before the lock is released, and before packets that
  /// have not been sent yet are given back: nothing is sent from memory of which others dispose.
  void hand_over();

  /// A datagram has come from there. `waited`: what it acknowledges may have waited for a process
  /// that did not poll; `is_newest`: none that was sent later has come.
  void take_header(Peer& peer, const Header& header, bool waited, bool is_newest, Time now);
  /// All before `next_expected` has arrived at the peer, and what `bits` name behind that and
  /// `skipped` more, as Header::received does: by a header, or by the longer list of a
  /// RecordKind::received.
  void acknowledged(Peer& peer, std::uint32_t next_expected, std::uint32_t bits,
                    std::uint32_t skipped, bool waited, Time now);
  /// Everything that a datagram acknowledges has been taken: what is missing may be lost.
  void find_losses(Peer& peer);
  /// Packets that are not acknowledged are sent again soon, however often they were already.
  void shorten_waits() noexcept;
  /// The peer has left: all that was sent there, is queued or will be counts as arrived.
  void peer_left(Peer& peer);
  /// This memory is about to go; nothing is read there any more. Answers to gets of it that are
  /// not acknowledged, or not yet cut into packets, go on with zeroes.
  void forget(const Peers& peers, const Segments::Range& memory);

  /// A poll has received and delivered: sends what waits for it.
  void send_queued(Time now);
  void look_at_timers(Time now);
  /// When there is something to do if nothing comes.
  Time next_at(Time now) const noexcept;

  /// Returns true if peers have something that they have not acknowledged, or are to be sent
  /// something.
  bool has_unacknowledged() const noexcept { return !timed_.empty() || !busy_.empty(); }
  std::size_t stream_packets() const noexcept { return stream_packets_.taken(); }

 private:
  static constexpr std::uint32_t max_stream_packets = 4096;

  void mark_busy(Peer& peer);
  void start_timer(Peer& peer, Time now);
  void shorten_wait(Peer& peer) noexcept;
  /// The next packet of what is queued, in order of its traffic and streams last; null: nothing is,
  /// or none may leave.
  Packet* next_packet(Peer& peer, Time now);
  /// Cuts the next packet off the peer's first stream; null: none may leave, or none is free.
  Packet* cut_next(Peer& peer, Time now);
  /// Bytes of a stream for a packet of their own, and its charge to the receiver's buffer.
  struct Cut {
    std::size_t bytes;
    std::size_t charge;
  };
  Cut next_cut(const Peer& peer, const Stream& stream) const noexcept;
  /// Adds it to what leaves with the next `hand_over`, for the first time or again.
  void add_to_burst(Peer& peer, Packet& packet, Time now);
  /// The charge of a packet to the receiver's buffer, in bytes.
  std::uint32_t charge_of(const Peer& peer, std::size_t size) const noexcept;
  void done_with(Peer& peer, Packet& packet);
  /// Completes what is queued, which is not sent any more.
  void drop_queued(Peer& peer);
  void find_overdue(Time now);
  void look_for_silence(Peer& peer, Time now);
  /// When more may be sent to a peer for which something is queued, if nothing comes from there.
  static Time resumes_at(const Peer& peer, Time now) noexcept;

  const EndpointParts endpoint_;
  PacketPool stream_packets_{max_stream_packets, front_size, false};
  std::vector<Peer*> busy_;   ///< with something to be sent
  std::vector<Peer*> timed_;  ///< with something unacknowledged
  Time next_timer_ = ~Time{0};
  /// Records added since the last poll: messages, puts, gets, answers. Those after the first few
  /// are gathered.
  std::uint32_t added_since_poll_ = 0;
  Time last_added_ = 0;                    ///< when the last of them was added
  std::uint64_t calls_at_last_added_ = 0;  ///< `Burst::calls` then
  Time last_gathered_out_ = 0;             ///< when all that was gathered has left
  bool has_warned_ = false;                ///< of a peer from which nothing has ever come
};

}  // namespace gex::net::udp
