#pragma once
// The acknowledgements of datagrams of peers. Every header acknowledges those that have come, and
// grants a window. Where nothing else goes to the peer an acknowledgement of its own leaves at the
// end of a poll: of one that found nothing to do, or of any if the sender waits for it, if 16
// datagrams have come, or if they fill an eighth of the window.
//
// Where this process holds as many requests as it may, headers refuse more; once it has room again
// those peers are sent an acknowledgement.
//
//   acknowledgements.owe(peer);                 // a sequenced datagram has come from there
//   Header header = acknowledgements.header_for(peer, sequenced);
//   acknowledgements.send_owed(idle);           // at the end of a poll
//
// Thread rules: one thread at a time.

#include <cstdint>
#include <vector>

#include "net/udp/burst.h"
#include "net/udp/peer.h"
#include "net/udp/peers.h"
#include "net/udp/receive_buffers.h"
#include "net/udp/receive_room.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

class Acknowledgements {
 public:
  /// `rank`: this process's.
  Acknowledgements(std::uint32_t rank, const ReceiveBuffers& buffers, ReceiveRoom& room,
                   Burst& burst) noexcept
      : rank_(rank), buffers_(buffers), room_(room), burst_(burst) {}
  Acknowledgements(const Acknowledgements&) = delete;
  Acknowledgements& operator=(const Acknowledgements&) = delete;

  /// For a datagram that goes there now: it acknowledges all that has come.
  Header header_for(Peer& peer, std::uint8_t flags) noexcept;
  void owe(Peer& peer);
  /// For a datagram of which nothing was accepted: at the end of this poll.
  void owe_now(Peer& peer);
  /// A datagram that is owed one was accepted, of that charge. `at_once`: its sender asks for it at
  /// the end of this poll.
  void accepted(Peer& peer, std::size_t charge, bool at_once);
  void send(Peer& peer);
  /// Sends what is due. `idle`: the poll has found nothing to do.
  void send_owed(bool idle);
  /// Asks peers that were refused requests for more, if there is room again.
  void resume_requests(const Peers& peers);

  bool has_owed() const noexcept { return !owed_.empty(); }

 private:
  /// Datagrams that are acknowledged at the latest when there are so many.
  static constexpr std::uint32_t max_unacknowledged_here = 16;

  const std::uint32_t rank_;
  const ReceiveBuffers& buffers_;
  ReceiveRoom& room_;
  Burst& burst_;
  std::vector<Peer*> owed_;
  bool requests_refused_ = false;  ///< of some peer, since there was room last
};

}  // namespace gex::net::udp
