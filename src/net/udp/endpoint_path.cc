// Endpoint: how large datagrams may be on the way to a peer, and those that are sent in fragments.

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/udp/endpoint.h"

namespace gex::net::udp {

void Endpoint::begin_search(Peer& peer, Time now) {
  peer.search.begin(now);
  if (!std::exchange(peer.is_searching, true)) searching_.push_back(&peer);
  next_timer_ = std::min(next_timer_, now);
}

void Endpoint::suspect(Peer& peer, std::size_t size, Time now) {
  if (peer.search.size() == 0 || size <= peer.search.least()) return;
  peer.search.suspect(now);
  if (peer.search.next_at() == PathSearch::never) return;
  if (!std::exchange(peer.is_searching, true)) searching_.push_back(&peer);
  next_timer_ = std::min(next_timer_, peer.search.next_at());
}

void Endpoint::search_paths(Time now) {
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
        burst_.add_padded(peer, header_for(peer, 0), &probe, sizeof probe,
                          std::max<std::size_t>(size, front_size));
      };
      if (peer.search.act(now, peer.round_trip.mean(), is_used, hint, send)) use_path(peer);
      peer.searched_at = peer.sent_number;
    }
    if (peer.search.next_at() == PathSearch::never || peer.is_gone) {
      peer.is_searching = false;
      searching_[i] = searching_.back();
      searching_.pop_back();
      continue;
    }
    next_timer_ = std::min(next_timer_, peer.search.next_at());
    ++i;
  }
}

void Endpoint::use_path(Peer& peer) {
  if (peer.search.size() != 0) peer.path = peer.search.size();
  peer.datagram = std::clamp<std::uint32_t>(peer.path & ~15U, peer.least_datagram,
                                            std::max(peer.least_datagram, peer.max_datagram));
  // Of large ones whole cache lines, so that copies are aligned alike.
  const std::uint32_t payload =
      peer.path > front_size ? peer.path - static_cast<std::uint32_t>(front_size) : 0;
  peer.stream_payload = payload > 8192 ? payload & ~63U : payload;
}

void Endpoint::take_probe(Peer& peer, const ProbeDetails& probe) {
  const struct {
    Record record;
    ProbeDetails details;
  } answer{{0, RecordKind::probe_answer, {}}, probe};
  burst_.add(peer, header_for(peer, 0), &answer, sizeof answer);
}

void Endpoint::take_probe_answer(Peer& peer, const ProbeDetails& probe, Time now) {
  if (peer.search.answered(probe.round, probe.index, now)) use_path(peer);
  next_timer_ = std::min(next_timer_, peer.search.next_at());
}

void Endpoint::take_fragment(Peer& peer, const Header& header, const std::byte* rest,
                             std::size_t rest_size, Time now) {
  Records records(rest, rest_size);
  const bool has_record = records.next() && records.kind() == RecordKind::fragment;
  const auto details = has_record ? records.details<FragmentDetails>() : FragmentDetails{};
  const std::size_t size = records.size();
  const bool is_valid = has_record && size != 0 && details.total <= buffers_.room() &&
                        details.offset % fragment_unit == 0 && details.offset < details.total &&
                        size <= details.total - details.offset &&
                        (size % fragment_unit == 0 || details.offset + size == details.total);
  // What has come whole meanwhile is not put together any more.
  std::erase_if(peer.assemblies, [&](const Assembly& one) {
    return peer.received.look(one.sequence) != ReceivedSequence::is_new;
  });
  auto found = std::ranges::find(peer.assemblies, header.sequence, &Assembly::sequence);
  if (!is_valid || (found != peer.assemblies.end() && found->bytes.size() != details.total)) {
    ++counts_.malformed;
    return;
  }
  if (found == peer.assemblies.end()) {
    if (peer.assemblies.size() == max_assemblies) {
      // The first in turn must find room, so that there is progress.
      const auto last = std::ranges::max_element(peer.assemblies, {}, [&](const Assembly& one) {
        return one.sequence - peer.received.next_expected();
      });
      if (header.sequence - last->sequence < 1U << 31) {
        ++counts_.refused;
        return;
      }
      peer.assemblies.erase(last);
    }
    Assembly& made = peer.assemblies.emplace_back();
    made.sequence = header.sequence;
    made.missing = (details.total + fragment_unit - 1) / fragment_unit;
    made.bytes.resize(details.total);
    found = peer.assemblies.end() - 1;
  }
  std::memcpy(found->bytes.data() + details.offset, records.data(), size);
  for (std::size_t unit = details.offset / fragment_unit;
       unit * fragment_unit < details.offset + size; ++unit) {
    if (found->arrived.test(unit)) continue;
    found->arrived.set(unit);
    --found->missing;
  }
  if (found->missing != 0) return;
  ReceiveBuffers::Buffer* const buffer = buffers_.take();
  if (buffer == nullptr) {
    ++counts_.refused;
    return;
  }
  std::memcpy(buffer->bytes(), found->bytes.data(), details.total);
  take_records(peer, header, buffer->bytes(), details.total, *buffer, now);
  if (buffer->messages == 0) buffers_.give_back(*buffer);
}

}  // namespace gex::net::udp
