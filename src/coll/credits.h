#pragma once
// Credits: how many eager flows (flow.h) a member may have sent to another that the other has not
// used yet, for it keeps those whose operation it has not begun.
//
// A flow takes a ticket when its operation begins, so that a later operation cannot take the room
// that an earlier one needs to end, and is sent once all but `max_unused` of the tickets before it
// are acknowledged. The receiver counts the flows it has used, of whichever tickets, and
// acknowledges `credit_at` of them in one message.
//
// Pure: no process, no network.

#include <gasnetex.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gex::coll {

class Credits {
 public:
  static constexpr std::int32_t max_unused = 16;
  static constexpr std::uint32_t credit_at = max_unused / 2;

  // Flows to other members.
  std::uint32_t take_ticket(gex_Rank_t to) { return peers_[to].tickets++; }
  bool may_send(gex_Rank_t to, std::uint32_t ticket) {
    return static_cast<std::int32_t>(ticket - peers_[to].acknowledged) < max_unused;
  }
  /// A member has used so many flows; false: it was not sent as many.
  bool acknowledge(gex_Rank_t by, std::uint32_t count) {
    Peer& peer = peers_[by];
    if (count > peer.tickets - peer.acknowledged) return false;
    peer.acknowledged += count;
    return true;
  }

  // Flows from other members.
  void count_used(gex_Rank_t from) {
    if (++peers_[from].used == credit_at) due_.push_back(from);
  }
  /// Returns true if there is something to send.
  bool are_due() const noexcept { return !due_.empty(); }
  /// Calls `send(member, count)` for each acknowledgement that is due, until it returns true. True
  /// if any was sent.
  template <class Send>
  bool send_due(Send send) {
    const auto sent = std::erase_if(due_, [&](gex_Rank_t member) {
      Peer& peer = peers_[member];
      if (!send(member, peer.used)) return false;
      peer.used = 0;
      return true;
    });
    return sent != 0;
  }

 private:
  struct Peer {
    std::uint32_t tickets = 0;
    std::uint32_t acknowledged = 0;  ///< by it
    std::uint32_t used = 0;          ///< of its flows, and not acknowledged yet
  };

  std::unordered_map<gex_Rank_t, Peer> peers_;
  std::vector<gex_Rank_t> due_;  ///< to whom
};

}  // namespace gex::coll
