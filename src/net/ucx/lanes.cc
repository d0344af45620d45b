#include "net/ucx/lanes.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "net/kit/processors.h"

namespace gex::net::ucx {

namespace {

/// Where nothing else is asked for.
constexpr std::uint32_t default_lanes = 4;

/// Polls that found something in a thread's own lane, after which it visits another all the same.
constexpr std::uint32_t max_polls_of_own = 16;

/// How long a rank that leaves waits for peers that take nothing, and for those that do not answer
/// the end of a connection.
constexpr std::chrono::seconds farewell_limit{5};
constexpr std::chrono::seconds close_limit{1};

/// What the calling thread is to the lanes.
struct ThisThread {
  std::uint32_t number = 0;
  std::uint32_t polls_of_own = 0;  ///< since a visit to another lane
  std::uint32_t visits = 0;
  std::array<std::uint32_t, Lanes::max_lanes> seen{};  ///< Lane::polls at the last visit
};
thread_local ThisThread this_thread;

std::uint32_t wanted_lanes(const Host& host) {
  const std::int64_t wanted = host.env_integer("GEX_UCX_LANES");
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 0, Lanes::max_lanes));
}

}  // namespace

Lane::Lane(const Host& host, const Context& context, std::string& error)
    : worker(context, host.threaded != 0, error), endpoints(host, worker) {
}

bool Lane::start(const Host& host, Segments& segments, std::size_t key_bytes, std::uint32_t number,
                 std::string& error) {
  one_sided = std::make_unique<OneSided>(host, worker, endpoints, segments, key_bytes);
  network = std::make_unique<Network>(host, worker, endpoints, *one_sided, number == 0);
  return network->start(error);
}

std::uint32_t Lanes::count_for(const Host& host) {
  if (host.threaded == 0) return 1;
  const std::uint32_t wanted = wanted_lanes(host);
  const std::uint32_t count =
      wanted != 0 ? wanted : std::min(default_lanes, processors_of_rank(host));
  return std::min(count, possible_connections(host));
}

std::string Lanes::describe(const Host& host) {
  const std::uint32_t wanted = wanted_lanes(host);
  return "at most " + std::to_string(wanted != 0 ? wanted : default_lanes) +
         " workers for the threads of a GASNET_PAR process" +
         (wanted != 0 ? ": GEX_UCX_LANES" : ", and no more than it has processors");
}

Lanes::Lanes(const Host& host, const Context& context, Segments& segments, std::size_t key_bytes,
             std::unique_ptr<Lane> first)
    : host_(host),
      context_(context),
      segments_(segments),
      key_bytes_(key_bytes),
      count_(count_for(host)) {
  Slot& slot = slots_[0];
  slot.lane = std::move(first);
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
  if (!slots_[own_number].offers.empty()) open(own_number);
}

Lane& Lanes::own() {
  const std::uint32_t number = this_thread.number % count_;
  // Acquire: the lane is complete.
  if (Lane* const lane = slots_[number].opened.load(std::memory_order_acquire)) return *lane;
  const std::lock_guard guard(mutex_);
  return open(number);
}

Lane& Lanes::of_thread(std::uint32_t peer) {
  const std::uint32_t number = this_thread.number % count_;
  if (number == 0 || peer >= host_.size) return *first_;
  Lane& lane = own();
  if (&lane == first_) return lane;
  Peer& known = slots_[number].peers[peer];
  // Acquire: the endpoint is there.
  if (known.is_known.load(std::memory_order_acquire)) return lane;
  if (!known.offered.load(std::memory_order_relaxed)) offer(number, peer);
  return *first_;
}

Lane* Lanes::holder_of(const void* payload) noexcept {
  // Acquire: what has been opened is in the list.
  const std::uint32_t count = open_count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i)
    if (open_[i]->network->has_built(payload)) return open_[i];
  return nullptr;
}

std::size_t Lanes::poll_lane(Lane& lane, std::uint32_t channels, std::size_t most) {
  const std::size_t delivered = lane.network->poll(channels, most);
  if (&lane == first_ && lane.network->has_offers()) [[unlikely]]
    take_offers();
  return delivered;
}

std::size_t Lanes::poll(std::uint32_t channels, std::size_t most) {
  const std::uint32_t count = open_count_.load(std::memory_order_acquire);
  if (count == 1) [[likely]]
    return poll_lane(*first_, channels, most);
  ThisThread& self = this_thread;
  Lane* lane = slots_[self.number % count_].opened.load(std::memory_order_acquire);
  if (lane == nullptr) lane = first_;
  // Relaxed, and no addition: a sign of life, which threads of one lane may overwrite. A thread
  // that polls replies alone leaves requests to the others.
  if ((channels >> request_channel & 1U) != 0)
    lane->polls.store(lane->polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::size_t delivered = poll_lane(*lane, channels, most);
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
  return poll_lane(other, channels, most);
}

SendResult Lanes::flush(std::uint32_t peer, void* done) {
  const std::uint32_t count = open_count_.load(std::memory_order_acquire);
  if (count == 1) return first_->one_sided->flush(peer, done);
  auto* const group = new FlushGroup{.done = done};
  for (std::uint32_t i = 0; i < count; ++i) open_[i]->one_sided->flush_for(*group, peer);
  first_->one_sided->part_is_done(*group);
  return sent;
}

Lane& Lanes::open(std::uint32_t number) {
  Slot& slot = slots_[number];
  if (Lane* const lane = slot.opened.load(std::memory_order_relaxed)) return *lane;
  std::string error;
  slot.peers = std::make_unique<Peer[]>(host_.size);
  slot.lane = std::make_unique<Lane>(host_, context_, error);
  if (error.empty()) slot.lane->start(host_, segments_, key_bytes_, number, error);
  if (error.empty()) slot.address = slot.lane->worker.address(error);
  if (!error.empty()) {
    host_.warn(
        ("ucx: a lane for further threads cannot be opened, which share the first one: " + error)
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
  for (const LaneOffer& one : std::exchange(slot.offers, {})) {
    meet(number, one);
    offer(number, one.source);
  }
  return lane;
}

void Lanes::offer(std::uint32_t number, std::uint32_t peer) {
  Slot& slot = slots_[number];
  std::atomic<bool>& offered = slot.peers[peer].offered;
  if (offered.exchange(true, std::memory_order_relaxed)) return;
  // Without room for it now the next message tries again.
  if (!first_->network->send_offer(peer, number, slot.address))
    offered.store(false, std::memory_order_relaxed);
}

void Lanes::meet(std::uint32_t number, const LaneOffer& offer) {
  Slot& slot = slots_[number];
  Peer& peer = slot.peers[offer.source];
  if (peer.is_known.load(std::memory_order_relaxed)) return;
  {
    const Worker::Use use(slot.lane->worker);
    slot.lane->endpoints.connect(offer.source, offer.address);
  }
  // Release: pairs with `of_thread`.
  peer.is_known.store(true, std::memory_order_release);
}

void Lanes::take_offers() {
  const std::lock_guard guard(mutex_);
  for (LaneOffer& one : first_->network->take_offers()) take_offer(std::move(one));
}

void Lanes::take_offer(LaneOffer&& taken) {
  const std::uint32_t number = taken.lane;
  if (number == 0 || number >= count_) return;
  Slot& slot = slots_[number];
  const bool has_thread = (entered_.load(std::memory_order_relaxed) >> number & 1U) != 0;
  Lane* const lane = has_thread ? &open(number) : slot.opened.load(std::memory_order_relaxed);
  if (lane == nullptr) {
    slot.offers.push_back(std::move(taken));
  } else if (lane != first_) {
    meet(number, taken);
    offer(number, taken.source);
  }
}

void Lanes::leave() {
  const std::span<Lane*> open(open_.data(), open_count_.load(std::memory_order_acquire));
  for (Lane* lane : open) lane->network->begin_to_leave();
  using Clock = std::chrono::steady_clock;
  auto until = Clock::now() + farewell_limit;
  std::size_t before = 0;
  for (;;) {
    std::size_t left = 0;
    for (const Lane* lane : open) left += lane->network->under_way();
    if (left == 0 || Clock::now() > until) break;
    if (left != before) until = Clock::now() + farewell_limit;
    before = left;
    for (Lane* lane : open) lane->network->advance();
    std::this_thread::yield();
  }
  for (Lane* lane : open) lane->network->finish_leaving();
  // All at the same time: two ranks may have opened theirs in different orders, and each lane's
  // end needs the other rank's progress in it.
  for (Lane* lane : open) lane->endpoints.begin_to_close();
  until = Clock::now() + close_limit;
  for (;;) {
    bool is_closed = true;
    for (Lane* lane : open) is_closed = lane->endpoints.advance_closing() && is_closed;
    if (is_closed || Clock::now() > until) break;
    std::this_thread::yield();
  }
  for (Lane* lane : open) lane->endpoints.end_closing();
}

}  // namespace gex::net::ucx
