#include "net/ofi/lanes.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "net/kit/processors.h"
#include "net/ofi/provider.h"

namespace gex::net::ofi {

namespace {

/// Where nothing else is asked for.
constexpr std::uint32_t default_lanes = 4;

/// Polls that found something in a thread's own lane, after which it visits another all the same.
constexpr std::uint32_t max_polls_of_own = 16;

/// Offers that a process sends a peer for each lane: its own, and that it has none.
constexpr std::size_t offers_per_lane = 2;

/// How long a rank that leaves waits for peers that take nothing.
constexpr std::chrono::seconds farewell_limit{5};

/// What the calling thread is to the lanes.
struct ThisThread {
  std::uint32_t number = 0;
  std::uint32_t polls_of_own = 0;  ///< since a visit to another lane
  std::uint32_t visits = 0;
  std::array<std::uint32_t, Lanes::max_lanes> seen{};  ///< Lane::polls at the last visit
};
thread_local ThisThread this_thread;

/// Whether a process may have several endpoints of this provider.
bool may_have_several(const fi_info& info) {
  const std::string_view provider = info.fabric_attr->prov_name;
  // Segments are registered for one endpoint, or an endpoint has a file with a name.
  if ((registration_mode(info) & FI_MR_ENDPOINT) != 0 || is_shm(info)) return false;
  // Not tried: deprecated, or with faults of its own.
  return provider != "sockets" && !provider.ends_with(";ofi_rxd");
}

}  // namespace

Lane::Lane(const Host& host, std::unique_ptr<Endpoint> enabled, Registrar& registrar,
           const Segments& segments, OfferSink* offers, std::size_t offers_per_peer)
    : endpoint(std::move(enabled)),
      one_sided(host, *endpoint, registrar, segments),
      network(host, *endpoint, registrar, one_sided, offers, offers_per_peer) {
}

std::uint32_t Lanes::count_for(const Host& host, const fi_info& info) {
  if (!may_have_several(info) || host.threaded == 0) return 1;
  const std::int64_t wanted = host.env_integer("GEX_OFI_LANES");
  const std::uint32_t count =
      wanted > 0 ? static_cast<std::uint32_t>(std::min<std::int64_t>(wanted, max_lanes))
                 : std::min(default_lanes, processors_of_rank(host));
  return makes_connections(info) ? std::min(count, possible_connections(host)) : count;
}

std::string Lanes::describe(const Host& host, const fi_info& info) {
  if (!may_have_several(info)) return "one endpoint for all threads of a process";
  const std::int64_t wanted = host.env_integer("GEX_OFI_LANES");
  const std::int64_t most = wanted > 0 ? std::min<std::int64_t>(wanted, max_lanes) : default_lanes;
  return "at most " + std::to_string(most) + " endpoints for the threads of a GASNET_PAR process" +
         (wanted > 0 ? ": GEX_OFI_LANES" : ", and no more than it has processors");
}

Lanes::Lanes(const Host& host, Domain& domain, Registrar& registrar, const Segments& segments,
             std::vector<std::unique_ptr<Endpoint>> endpoints)
    : host_(host),
      domain_(domain),
      registrar_(registrar),
      segments_(segments),
      count_(static_cast<std::uint32_t>(endpoints.size())) {
  for (std::uint32_t number = 0; number < count_; ++number)
    slots_[number].endpoint = std::move(endpoints[number]);
  Slot& slot = slots_[0];
  slot.lane = std::make_unique<Lane>(host, std::move(slot.endpoint), registrar, segments,
                                     static_cast<OfferSink*>(this), offers_per_lane * (count_ - 1));
  first_ = slot.lane.get();
  slot.opened.store(first_, std::memory_order_relaxed);
  open_[0] = first_;
}

void Lanes::enter(std::uint32_t number) {
  this_thread.number = number;
  const std::uint32_t own_number = number % count_;
  if (own_number == 0) return;
  // Before the mutex is taken: an offer finds this, or is found here.
  entered_.fetch_or(1U << own_number, std::memory_order_relaxed);
  const std::lock_guard guard(mutex_);
  if (!slots_[own_number].offers.empty()) open_now(own_number);
}

Lane& Lanes::own() {
  const std::uint32_t number = this_thread.number % count_;
  // Acquire: the lane is complete.
  Lane* const lane = slots_[number].opened.load(std::memory_order_acquire);
  return lane != nullptr ? *lane : open(number);
}

Lane& Lanes::for_messages(std::uint32_t peer) {
  if (count_ == 1 || this_thread.number % count_ == 0 || peer >= host_.size) return *first_;
  Lane& lane = own();
  if (lane.endpoint->message_route(peer) != FI_ADDR_NOTAVAIL) return lane;
  offer(this_thread.number % count_, peer);
  return *first_;
}

Lane& Lanes::for_transfers(std::uint32_t peer) {
  if (count_ == 1 || this_thread.number % count_ == 0 || peer >= host_.size) return *first_;
  Lane& lane = own();
  if (lane.endpoint->transfer_route(peer) != FI_ADDR_NOTAVAIL) return lane;
  offer(this_thread.number % count_, peer);
  return *first_;
}

Lane* Lanes::holder_of(const void* payload) noexcept {
  // Acquire: what has been opened is in the list.
  const std::uint32_t count = open_count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i)
    if (open_[i]->network.has_built(payload)) return open_[i];
  return nullptr;
}

std::size_t Lanes::poll(std::uint32_t channels, std::size_t most) {
  const std::uint32_t count = open_count_.load(std::memory_order_acquire);
  if (count == 1) [[likely]]
    return first_->network.poll(channels, most);
  ThisThread& self = this_thread;
  Lane* lane = slots_[self.number % count_].opened.load(std::memory_order_acquire);
  if (lane == nullptr) lane = first_;
  // Relaxed, and no addition: a sign of life, which threads of one lane may overwrite. A thread
  // that polls replies alone leaves requests to the others.
  if ((channels >> request_channel & 1U) != 0)
    lane->polls.store(lane->polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::size_t delivered = lane->network.poll(channels, most);
  if (delivered != 0 && ++self.polls_of_own < max_polls_of_own) return delivered;
  self.polls_of_own = 0;
  return delivered + visit_another(*lane, channels, most - delivered);
}

std::size_t Lanes::visit_another(const Lane& own, std::uint32_t channels, std::size_t most) {
  const std::uint32_t count = open_count_.load(std::memory_order_acquire);
  ThisThread& self = this_thread;
  std::uint32_t which = ++self.visits % count;
  if (open_[which] == &own) which = ++self.visits % count;
  Lane& other = *open_[which];
  const std::uint32_t polls = other.polls.load(std::memory_order_relaxed);
  if (std::exchange(self.seen[which], polls) != polls) return 0;
  return other.network.poll(channels, most);
}

Lane& Lanes::open(std::uint32_t number) {
  const std::lock_guard guard(mutex_);
  return open_now(number);
}

Lane& Lanes::open_now(std::uint32_t number) {
  Slot& slot = slots_[number];
  if (Lane* const lane = slot.opened.load(std::memory_order_relaxed)) return *lane;
  std::string error;
  slot.peers = std::make_unique<Peer[]>(host_.size);
  if (slot.endpoint->enable(error)) {
    slot.lane =
        std::make_unique<Lane>(host_, std::move(slot.endpoint), registrar_, segments_, nullptr, 0);
    slot.lane->network.start(error);
  }
  if (!error.empty()) {
    host_.warn(
        ("ofi: a lane for further threads cannot be opened, which share the first one: " + error)
            .c_str());
    slot.opened.store(first_, std::memory_order_release);
    return *first_;
  }
  Lane& lane = *slot.lane;
  // Release: a thread that sees the lane sees it complete.
  slot.opened.store(&lane, std::memory_order_release);
  const std::uint32_t count = open_count_.load(std::memory_order_relaxed);
  open_[count] = &lane;
  open_count_.store(count + 1, std::memory_order_release);
  for (const Offered& one : std::exchange(slot.offers, {})) {
    meet(number, one.source, one.offer);
    offer(number, one.source);
  }
  return lane;
}

void Lanes::offer(std::uint32_t number, std::uint32_t peer) {
  Slot& slot = slots_[number];
  std::atomic<bool>& offered = slot.peers[peer].offered;
  if (offered.load(std::memory_order_relaxed) || offered.exchange(true)) return;
  std::string error;
  const std::vector<std::byte> name = slot.lane->endpoint->name(error);
  LaneOffer message{};
  message.lane = number;
  message.has_endpoint = 1;
  // As of the first endpoint, whose name was short enough.
  std::memcpy(message.name, name.data(), std::min(name.size(), max_name));
  if (!error.empty() || !first_->network.send_offer(peer, message)) offered.store(false);
}

void Lanes::answer_that_there_is_none(std::uint32_t number, std::uint32_t peer) {
  LaneOffer message{};
  message.lane = number;
  // Without room for it the peer goes on over the first lane.
  first_->network.send_offer(peer, message);
}

void Lanes::meet(std::uint32_t number, std::uint32_t source, const LaneOffer& offer) {
  Slot& slot = slots_[number];
  Peer& peer = slot.peers[source];
  const bool has_endpoint = offer.has_endpoint != 0;
  const Peer::Met wanted = has_endpoint ? Peer::Met::same_lane : Peer::Met::first_endpoint;
  if (peer.met >= wanted) return;
  const fi_addr_t address = has_endpoint ? domain_.insert(offer.name) : domain_.address_of(source);
  if (address == FI_ADDR_NOTAVAIL) return;
  peer.met = wanted;
  slot.lane->network.connect(source, address);
}

void Lanes::take_offer(std::uint32_t source, const LaneOffer& taken) {
  const std::uint32_t number = taken.lane;
  const bool has_endpoint = taken.has_endpoint != 0;
  if (number == 0 || number >= max_lanes) return;
  const std::lock_guard guard(mutex_);
  if (number >= count_) {
    if (has_endpoint) answer_that_there_is_none(number, source);
    return;
  }
  Slot& slot = slots_[number];
  const bool has_thread = (entered_.load(std::memory_order_relaxed) >> number & 1U) != 0;
  Lane* const lane =
      has_thread && has_endpoint ? &open_now(number) : slot.opened.load(std::memory_order_relaxed);
  if (lane != nullptr && lane != first_) {
    meet(number, source, taken);
    if (has_endpoint) offer(number, source);
    return;
  }
  if (!has_endpoint) return;
  if (lane == nullptr) slot.offers.push_back({source, taken});
  answer_that_there_is_none(number, source);
}

void Lanes::leave() {
  const std::span<Lane*> open(open_.data(), open_count_.load(std::memory_order_acquire));
  for (Lane* lane : open) lane->network.begin_to_leave();
  using Clock = std::chrono::steady_clock;
  auto until = Clock::now() + farewell_limit;
  std::size_t before = 0;
  for (;;) {
    std::size_t left = 0;
    for (const Lane* lane : open) left += lane->network.under_way();
    if (left == 0 || Clock::now() > until) break;
    if (left != before) until = Clock::now() + farewell_limit;
    before = left;
    for (Lane* lane : open) lane->network.advance();
    std::this_thread::yield();
  }
  for (Lane* lane : open) {
    lane->network.finish_leaving();
    lane->endpoint->close();
  }
}

}  // namespace gex::net::ofi
