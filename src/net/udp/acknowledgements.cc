#include "net/udp/acknowledgements.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gex::net::udp {

Header Acknowledgements::header_for(Peer& peer, std::uint8_t flags) noexcept {
  const bool refuses = !buffers_.may_hold(request_channel);
  requests_refused_ |= refuses;
  peer.was_stopped = refuses;
  peer.unacknowledged_here = 0;
  peer.unacknowledged_here_charge = 0;
  peer.acknowledgement_is_due = false;
  const bool waited = std::exchange(peer.kept_waiting, false);
  Header header{};
  header.source = rank_ & (max_ranks - 1);
  header.next_expected = peer.received.next_expected();
  header.received = peer.received.received_behind(0);
  header.window = static_cast<std::uint16_t>(
      std::min<std::size_t>(room_.grant(peer.share) / window_unit, UINT16_MAX));
  header.flags =
      static_cast<std::uint8_t>(flags | (refuses ? no_requests : 0) | (waited ? kept_waiting : 0));
  return header;
}

void Acknowledgements::owe(Peer& peer) {
  if (peer.is_owed) return;
  peer.is_owed = true;
  owed_.push_back(&peer);
}

void Acknowledgements::owe_now(Peer& peer) {
  owe(peer);
  accepted(peer, 0, /*at_once=*/true);
}

void Acknowledgements::accepted(Peer& peer, std::size_t charge, bool at_once) {
  ++peer.unacknowledged_here;
  peer.unacknowledged_here_charge += charge;
  peer.acknowledgement_is_due |= at_once;
}

void Acknowledgements::send(Peer& peer) {
  Header header = header_for(peer, 0);
  header.sequence = peer.received.next_expected();
  struct {
    Record record;
    std::uint32_t bits[max_unacknowledged / 32 - 1];
  } longer{};
  std::size_t words = 0;
  for (std::uint32_t i = 0; peer.received.ahead() != 0 && i < std::size(longer.bits); ++i) {
    longer.bits[i] = peer.received.received_behind(32 * (i + 1));
    if (longer.bits[i] != 0) words = i + 1;
  }
  longer.record = {
      static_cast<std::uint32_t>(words * sizeof(std::uint32_t)), RecordKind::received, {}};
  burst_.add(peer, header, &longer, words != 0 ? sizeof longer.record + longer.record.size : 0);
}

void Acknowledgements::send_owed(bool idle) {
  for (std::size_t i = 0; i < owed_.size();) {
    Peer& peer = *owed_[i];
    const bool is_due = peer.acknowledgement_is_due || idle ||
                        peer.unacknowledged_here >= max_unacknowledged_here ||
                        peer.unacknowledged_here_charge >= peer.share.granted / 8;
    // If not, it waits for a later poll.
    if (peer.unacknowledged_here != 0 && !is_due) {
      ++i;
      continue;
    }
    if (peer.unacknowledged_here != 0) send(peer);
    peer.is_owed = false;
    owed_[i] = owed_.back();
    owed_.pop_back();
  }
}

void Acknowledgements::resume_requests(const Peers& peers) {
  if (!requests_refused_ || !buffers_.has_recovered(request_channel)) [[likely]]
    return;
  requests_refused_ = false;
  for (const auto& peer : peers.made())
    if (peer->was_stopped) send(*peer);
}

}  // namespace gex::net::udp
