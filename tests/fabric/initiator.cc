// An endpoint's own operations: what is refused, what is sent, and when it completes.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "address_vector.h"
#include "counts.h"
#include "endpoint.h"
#include "event_queue.h"
#include "knobs.h"

namespace gexsim {

namespace {

bool is_one_sided(Kind kind) {
  return kind == Kind::write || kind == Kind::read || kind == Kind::atomic;
}

/// Packets to a peer that does not poll, from which on a provider waits inside its calls.
constexpr std::uint64_t packets_without_polls = 32;

/// Polls between two looks whether peers are still there.
constexpr std::uint64_t polls_per_look = 512;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "gexsim: %s\n", what);
  std::abort();
}

}  // namespace

Endpoint::Peer& Endpoint::peer_of(const Address& address) {
  const auto [found, is_new] = peers_.try_emplace(address);
  if (is_new) {
    found->second.inbox = Inbox::open(address, inbox_->address().fabric);
    found->second.known_at = polls_;
  }
  return found->second;
}

void Endpoint::wait_for_polls(Peer& peer) {
  const std::uint64_t polls = peer.inbox->polls();
  if (polls != peer.last_polls) {
    peer.last_polls = polls;
    peer.since_poll = 0;
  }
  if (peer.since_poll < packets_without_polls) return;
  const auto until = Clock::now() + std::chrono::milliseconds(knobs().blocks_ms);
  const timespec moment{.tv_sec = 0, .tv_nsec = 100'000};
  // Such a call does what a poll does, or two of them would wait for each other.
  while (Clock::now() < until && peer.inbox->polls() == polls) {
    progress();
    nanosleep(&moment, nullptr);
  }
}

ssize_t Endpoint::connect(Peer& peer, Kind kind) {
  const Knobs& own = knobs();
  const std::uint64_t polls = peer.inbox->polls();
  if (!peer.is_connected && own.connect_polls != 0) {
    if (!peer.is_contacted) {
      peer.is_contacted = true;
      peer.contact_polls = polls;
      peer.contacted = Clock::now();
    }
    if (polls < peer.contact_polls + own.connect_polls) {
      if (own.connect_patience_ms != 0 && polls == peer.contact_polls &&
          Clock::now() - peer.contacted > std::chrono::milliseconds(own.connect_patience_ms))
        give_up("a peer does not answer at the first contact");
      return -FI_EAGAIN;
    }
  }
  peer.is_connected = true;
  if (!peer.has_shaken_hands && own.handshake_polls != 0 && is_one_sided(kind)) {
    if (!std::exchange(peer.has_begun_handshake, true)) peer.handshake_polls = polls;
    if (polls < peer.handshake_polls + own.handshake_polls) return -FI_EAGAIN;
    peer.has_shaken_hands = true;
  }
  return 0;
}

ssize_t Endpoint::admit(Peer& peer, Kind kind) {
  const Knobs& own = knobs();
  if (own.self_reached == 0 && peer.inbox && peer.inbox->address() == inbox_->address())
    return -FI_EAGAIN;
  if (polls_ < peer.known_at + own.address_polls) return -FI_EAGAIN;
  if (own.again_until_read != 0 && refused_at_read_ == transmit_queue_->reads()) return -FI_EAGAIN;
  ++posts_;
  if (own.again_every != 0 && posts_ % own.again_every == 0) return -FI_EAGAIN;
  if (own.internal_error_after != 0 && posts_ == own.internal_error_after) {
    if (events_ == nullptr) give_up("an error of the device, and no event queue to report it");
    events_->add({.what = 0,
                  .about = &fid,
                  .info = nullptr,
                  .data = {},
                  .error = FI_EIO,
                  .context = fid.context});
  }
  if (peer.inbox && !peer.inbox->is_closed()) {
    if (const ssize_t refused = connect(peer, kind); refused != 0) return refused;
    if (own.blocks_ms != 0) wait_for_polls(peer);
  } else if (own.dead_peer == "again") {
    return -FI_EAGAIN;
  }
  if (operations_.size() >= own.tx_size) return -FI_EAGAIN;
  return 0;
}

ssize_t Endpoint::post(Operation&& operation, fi_addr_t to) {
  const std::lock_guard guard(domain_.mutex());
  const Knobs& own = knobs();
  if (!is_enabled_) return -FI_EOPBADSTATE;
  const std::optional<Address> address = is_for_one_ ? remote_ : addresses_->find(to);
  if (!address) return is_for_one_ ? -FI_ENOTCONN : -FI_EINVAL;
  Peer& peer = peer_of(*address);
  ssize_t refused = admit(peer, operation.kind);
  if (operation.is_fetched && fetched_ >= own.fetched) refused = -FI_EAGAIN;
  if (refused == 0 && operation.reports && !transmit_queue_->reserve()) refused = -FI_EAGAIN;
  if (refused != 0) {
    refused_at_read_ = transmit_queue_->reads();
    return refused;
  }
  count(operation);
  if (operation.is_fetched) ++fetched_;
  const std::uint64_t number = next_number_++;
  for (const Segment& segment : operation.segments) operation.total += segment.size;
  Outgoing outgoing;
  outgoing.operation = number;
  outgoing.packet = operation.atomic;
  outgoing.packet.kind = operation.kind;
  outgoing.packet.wants_acknowledgement = operation.awaits_answer;
  outgoing.packet.operation = number;
  outgoing.packet.order = order_;
  outgoing.packet.max_order = max_order_;
  outgoing.packet.source = inbox_->address();
  outgoing.packet.total = operation.total;
  outgoing.segments = operation.segments;
  if (operation.kind == Kind::write && operation.total > own.stall_above)
    operation.never_completes = true;
  const bool fails = own.error_under_load != 0 && operations_.size() + 1 >= own.error_under_load;
  operations_.emplace(number, std::move(operation));
  if (fails) {
    complete(number, FI_EIO);
    return 0;
  }
  peer.queue.push_back(std::move(outgoing));
  pump(peer);
  return 0;
}

bool Endpoint::push(Peer& peer, Outgoing& outgoing) {
  Packet& packet = outgoing.packet;
  const auto put = [&](const std::byte* payload, std::uint64_t size) {
    packet.payload = static_cast<std::uint32_t>(size);
    packet.offset = outgoing.sent;
    if (!peer.inbox->put(packet, payload)) return false;
    ++peer.since_poll;
    outgoing.sent += size;
    return true;
  };
  if (outgoing.segments.empty() || packet.kind == Kind::atomic || packet.total == 0) {
    if (!outgoing.segments.empty()) {
      packet.target = outgoing.segments[0].target;
      packet.key = outgoing.segments[0].key;
    }
    return put(nullptr, 0);
  }
  for (; outgoing.at < outgoing.segments.size(); ++outgoing.at, outgoing.at_byte = 0) {
    const Segment& segment = outgoing.segments[outgoing.at];
    packet.key = segment.key;
    while (outgoing.at_byte < segment.size) {
      const std::uint64_t left = segment.size - outgoing.at_byte;
      packet.target = segment.target + outgoing.at_byte;
      if (packet.kind == Kind::read) {
        // A request for all of the segment, whose bytes come back as answers.
        packet.operand = left;
        if (!put(nullptr, 0)) return false;
        outgoing.sent += left;
        outgoing.at_byte = segment.size;
        break;
      }
      const std::uint64_t size = std::min<std::uint64_t>(left, knobs().fragment);
      if (!put(Regions::pages(segment.region, segment.local + outgoing.at_byte), size))
        return false;
      outgoing.at_byte += size;
    }
  }
  return true;
}

void Endpoint::pump(Peer& peer) {
  if (!peer.inbox) return;
  while (!peer.queue.empty() && push(peer, peer.queue.front())) {
    const std::uint64_t number = peer.queue.front().operation;
    peer.queue.pop_front();
    if (number != 0) sent_off(number);
  }
}

void Endpoint::sent_off(std::uint64_t number) {
  const auto found = operations_.find(number);
  if (found == operations_.end()) return;
  const Operation& operation = found->second;
  if (!operation.awaits_answer && !operation.never_completes) complete(number);
}

void Endpoint::complete(std::uint64_t number, int error) {
  const auto found = operations_.find(number);
  if (found == operations_.end()) return;
  const Operation& operation = found->second;
  if (operation.never_completes) return;
  if (operation.reports || error != 0) {
    Completion completion;
    completion.entry.op_context = operation.context;
    completion.entry.flags = operation.flags;
    completion.error = error;
    transmit_queue_->add(completion, operation.reports);
  }
  if (operation.is_fetched) --fetched_;
  operations_.erase(found);
}

void Endpoint::handle_answer(const Packet& packet, const std::vector<std::byte>& payload) {
  const auto found = operations_.find(packet.operation);
  if (found == operations_.end()) return;
  Operation& operation = found->second;
  if (packet.error != 0 || packet.kind == Kind::acknowledgement) {
    complete(packet.operation, packet.error);
    return;
  }
  if (packet.kind == Kind::atomic_result) {
    if (operation.result != nullptr)
      std::memcpy(operation.result, &packet.operand, operation.width);
    complete(packet.operation);
    return;
  }
  std::uint64_t offset = packet.offset;
  std::size_t copied = 0;
  for (const Segment& segment : operation.segments) {
    if (offset >= segment.size) {
      offset -= segment.size;
      continue;
    }
    const std::size_t size = std::min<std::size_t>(payload.size() - copied, segment.size - offset);
    if (size != 0)
      std::memcpy(Regions::pages(segment.region, segment.local + offset), payload.data() + copied,
                  size);
    copied += size;
    offset = 0;
    if (copied == payload.size()) break;
  }
  operation.arrived += payload.size();
  if (operation.arrived == operation.total) complete(packet.operation);
}

void Endpoint::fail_lost_peers() {
  if (polls_ % polls_per_look != 0 || knobs().dead_peer != "error") return;
  for (auto& [address, peer] : peers_) {
    if (peer.inbox && !peer.inbox->is_closed()) continue;
    if (remote_ == address) {
      remote_.reset();
      events_->add({.what = FI_SHUTDOWN, .about = &fid, .info = nullptr, .data = {}});
    }
    std::vector<std::uint64_t> lost;
    for (const Outgoing& outgoing : peer.queue)
      if (outgoing.operation != 0) lost.push_back(outgoing.operation);
    peer.queue.clear();
    for (const std::uint64_t number : lost) complete(number, FI_EHOSTUNREACH);
  }
}

void Endpoint::add_unasked_completions() {
  const Knobs& own = knobs();
  if (own.null_error_after != 0 && posts_ >= own.null_error_after &&
      !std::exchange(had_null_error_, true)) {
    Completion completion;
    completion.error = FI_EIO;
    transmit_queue_->add(completion, false);
  }
  if (own.null_completions == 0 || posts_ / own.null_completions <= unasked_) return;
  ++unasked_;
  Completion completion;
  completion.entry.flags = FI_SEND | FI_MSG;
  transmit_queue_->add(completion, false);
}

}  // namespace gexsim
