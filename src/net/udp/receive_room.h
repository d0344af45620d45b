#pragma once
// The bytes that each peer may have in flight to this process, so that the kernel's receive buffer
// holds all of it.
//
// A peer that was silent may send a little unasked; so may all of them at once. The rest of the
// buffer is granted: every datagram that goes to a peer names a window, and what is granted to all
// never exceeds the buffer. Those that have sent something lately get equal shares. A grant lapses
// at its holder when nothing arrives there for `lifetime`, and is counted here for at least as
// long.
//
//   ReceiveRoom room(buffer, least, ranks);     // first_window(buffer, least, ranks) at the peers
//   room.update(now);                           // in each poll
//   room.received_from(peer.share);
//   header.window = room.grant(peer.share);

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "net/udp/packet.h"
#include "net/udp/socket.h"

namespace gex::net::udp {

/// The sum that windows may have, of a receive buffer of so many bytes. The rest is for
/// acknowledgements, which no window counts.
constexpr std::size_t room_of(std::size_t receive_buffer) noexcept {
  return receive_buffer - receive_buffer / 8;
}

/// A window for two datagrams: less is not worth a sender's turn on its processor. All of many
/// senders together may have more than there is room for then: some is lost and comes again.
///
/// `max_datagram`: for what a process sends unasked, of the largest datagram to that peer; for what
/// it grants, of the largest to any: what is counted for each should not be less than it sends.
inline std::size_t least_window(const Socket& socket, std::size_t max_datagram) {
  constexpr std::size_t enough = 32768;
  return 2 * socket.charge(std::min(max_datagram, enough));
}

/// The bytes that a process may send unasked to one with such a buffer, in a job of so many ranks.
/// `least`: a window that lets anything through.
constexpr std::size_t first_window(std::size_t receive_buffer, std::size_t least,
                                   std::size_t ranks) noexcept {
  const std::size_t room = room_of(receive_buffer);
  return std::max(least, ranks <= 2 ? room : room / 4 / (ranks - 1));
}

class ReceiveRoom {
 public:
  static constexpr Time lifetime = 10'000'000;

  /// The grants of a peer.
  struct Share {
    std::uint64_t active_in = 0;  ///< the round in which it sent something last
    std::uint64_t granted_in = 0;
    std::size_t granted = 0;
  };

  ReceiveRoom(std::size_t receive_buffer, std::size_t least, std::size_t ranks) noexcept
      : unasked_(first_window(receive_buffer, least, ranks)) {
    const std::size_t room = room_of(receive_buffer);
    const std::size_t others = ranks <= 2 ? 0 : ranks - 2;
    budget_ = room > others * unasked_ ? room - others * unasked_ : 0;
  }

  void received_from(Share& share) noexcept {
    if (share.active_in == round_) return;
    share.active_in = round_;
    ++active_;
  }
  void update(Time now) noexcept {
    if (now < ends_) return;
    ends_ = now + lifetime;
    ++round_;
    active_before_ = std::exchange(active_, 0);
    granted_before_ = std::exchange(granted_, 0);
  }
  /// The window of a peer from now on.
  std::size_t grant(Share& share) noexcept {
    if (share.granted_in == round_)
      granted_ -= share.granted;
    else if (share.granted_in + 1 == round_)
      granted_before_ -= share.granted;
    else
      share.granted = 0;
    const std::size_t all = granted_ + granted_before_;
    const std::size_t left = budget_ > all ? budget_ - all : 0;
    const std::size_t senders = std::max<std::size_t>(1, std::max(active_, active_before_));
    // Half of what is left: others may be about to ask.
    const std::size_t kept = std::min(share.granted, left);
    share.granted = std::max(unasked_, std::min(budget_ / senders, kept + (left - kept + 1) / 2));
    share.granted_in = round_;
    granted_ += share.granted;
    return share.granted;
  }

 private:
  std::size_t unasked_;
  std::size_t budget_;
  std::uint64_t round_ = 2;
  std::size_t active_ = 0;
  std::size_t active_before_ = 0;
  // Bytes granted in this round and in the one before.
  std::size_t granted_ = 0;
  std::size_t granted_before_ = 0;
  Time ends_ = 0;
};

}  // namespace gex::net::udp
