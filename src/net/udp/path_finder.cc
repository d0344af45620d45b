#include "net/udp/path_finder.h"

#include <algorithm>
#include <utility>

namespace gex::net::udp {

void PathFinder::add(Peer& peer) {
  if (!std::exchange(peer.is_searching, true)) searching_.push_back(&peer);
}

void PathFinder::begin(Peer& peer, Time now) {
  peer.search.begin(now);
  add(peer);
  next_at_ = std::min(next_at_, now);
}

void PathFinder::suspect(Peer& peer, std::size_t size, Time now) {
  if (peer.search.size() == 0 || size <= peer.search.least()) return;
  peer.search.suspect(now);
  if (peer.search.next_at() == PathSearch::never) return;
  add(peer);
  next_at_ = std::min(next_at_, peer.search.next_at());
}

void PathFinder::search(Time now) {
  next_at_ = ~Time{0};
  for (std::size_t i = 0; i < searching_.size();) {
    Peer& peer = *searching_[i];
    if (now >= peer.search.next_at() && !peer.is_gone) {
      const bool is_used =
          !peer.unacknowledged.empty() || peer.has_queued() || peer.sent_number != peer.searched_at;
      const auto hint = [&] {
        return static_cast<std::uint32_t>(socket_.max_datagram(peer.address));
      };
      const auto send = [&](std::uint32_t round, std::uint32_t index, std::uint32_t size) {
        const struct {
          Record record;
          ProbeDetails details;
        } probe{{size > front_size ? static_cast<std::uint32_t>(size - front_size) : 0,
                 RecordKind::probe,
                 {}},
                {round, index, {}}};
        burst_.add_padded(peer, acknowledgements_.header_for(peer, 0), &probe, sizeof probe,
                          std::max<std::size_t>(size, front_size));
      };
      if (peer.search.act(now, peer.round_trip.mean(), is_used, hint, send)) peer.use_path();
      peer.searched_at = peer.sent_number;
    }
    if (peer.search.next_at() == PathSearch::never || peer.is_gone) {
      peer.is_searching = false;
      searching_[i] = searching_.back();
      searching_.pop_back();
      continue;
    }
    next_at_ = std::min(next_at_, peer.search.next_at());
    ++i;
  }
}

void PathFinder::handle_probe(Peer& peer, const ProbeDetails& probe) {
  const struct {
    Record record;
    ProbeDetails details;
  } answer{{0, RecordKind::probe_answer, {}}, probe};
  burst_.add(peer, acknowledgements_.header_for(peer, 0), &answer, sizeof answer);
}

void PathFinder::handle_answer(Peer& peer, const ProbeDetails& probe, Time now) {
  if (peer.search.answered(probe.round, probe.index, now)) peer.use_path();
  next_at_ = std::min(next_at_, peer.search.next_at());
}

}  // namespace gex::net::udp
