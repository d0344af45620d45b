#include "net/udp/lanes.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "net/kit/fatal.h"
#include "net/kit/processors.h"

namespace gex::net::udp {

namespace {

thread_local std::uint32_t own_number = 0;

/// Peers that are silent for so long do not keep this process from leaving.
constexpr Time patience = 2'000'000'000;

}  // namespace

std::uint32_t Lanes::count_for(const Host& host, std::uint32_t wanted) {
  if (host.threaded == 0) return 1;
  constexpr std::uint32_t default_lanes = 4;
  // Each lane keeps about a kilobyte of each peer that it has to do with.
  const std::uint32_t affordable = std::max(1U, 2048 / std::max(host.size, 1U));
  return std::min(affordable, wanted != 0 ? std::min(wanted, max_lanes)
                                          : std::min(default_lanes, processors_of_rank(host)));
}

Lanes::Lanes(const Host& host, Seal seal, const EndpointSettings& settings,
             std::vector<Parts> parts)
    : host_(host),
      seal_(std::move(seal)),
      segments_(host.threaded != 0),
      settings_(settings),
      count_(static_cast<std::uint32_t>(parts.size())) {
  for (std::uint32_t number = 0; number < count_; ++number)
    lanes_[number].parts = std::move(parts[number]);
  first_ = &open(0);
}

void Lanes::enter(std::uint32_t number) noexcept {
  own_number = number;
}

Endpoint& Lanes::open(std::uint32_t number) {
  Lane& lane = lanes_[number];
  // Acquire: what the thread that made it has written is seen.
  Endpoint* endpoint = lane.endpoint.load(std::memory_order_acquire);
  if (endpoint != nullptr) [[likely]]
    return *endpoint;
  const std::lock_guard guard(mutex_);
  if (lane.made == nullptr) {
    EndpointSettings settings = settings_;
    settings.session = lane.parts.session;
    lane.made = std::make_unique<Endpoint>(host_, *lane.parts.socket, seal_, segments_, settings,
                                           *lane.parts.peers);
    if (!lane.made->has_memory() && number != 0)
      fatal(host_, "udp: no addresses are left for the buffers of lane %u", number);
    lane.endpoint.store(lane.made.get(), std::memory_order_release);
  }
  return *lane.made;
}

Endpoint& Lanes::own() {
  return count_ == 1 ? *first_ : open(own_number % count_);
}

Endpoint& Lanes::holder(const void* payload) {
  Endpoint& mine = own();
  if (count_ == 1 || mine.may_have_built(payload)) return mine;
  for (std::uint32_t number = 0; number < count_; ++number) {
    Endpoint* const endpoint = lanes_[number].endpoint.load(std::memory_order_acquire);
    if (endpoint != nullptr && endpoint->may_have_built(payload)) return *endpoint;
  }
  return mine;
}

void Lanes::forget(const Segments::Range& memory) {
  for (std::uint32_t number = 0; number < count_; ++number)
    if (Endpoint* endpoint = lanes_[number].endpoint.load(std::memory_order_acquire))
      endpoint->forget(memory);
}

std::size_t Lanes::poll(std::uint32_t channels, std::size_t max, Time now) {
  if (count_ == 1) return first_->poll(channels, max, now);
  if (has_waited_.load(std::memory_order_relaxed)) [[unlikely]]
    return poll_all(channels, max, now);
  const std::uint32_t number = own_number % count_;
  Lane& lane = lanes_[number];
  // Relaxed: hints to other threads, here and below.
  lane.own_polls.fetch_add(1, std::memory_order_relaxed);
  const std::size_t delivered = open(number).poll(channels, max, now);
  if (delivered != 0) return delivered;
  const std::uint32_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
  if (turn % rarely == 0) {
    const std::uint32_t other = turn / rarely % count_;
    return other != number ? visit(other, channels, max, now) : 0;
  }
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint32_t other = (turn + i) % count_;
    if (other == number || lanes_[other].idle_visits.load(std::memory_order_relaxed) >= idle_limit)
      continue;
    return visit(other, channels, max, now);
  }
  return 0;
}

std::size_t Lanes::poll_all(std::uint32_t channels, std::size_t max, Time now) {
  has_waited_.store(false, std::memory_order_relaxed);
  std::size_t delivered = 0;
  for (std::uint32_t i = 0; i < count_ && delivered < max; ++i) {
    const std::uint32_t number = (own_number + i) % count_;
    Lane& lane = lanes_[number];
    Endpoint& endpoint = open(number);
    delivered += endpoint.poll(channels, max - delivered, now);
    // What has begun to come here goes on.
    const std::uint64_t received = endpoint.received();
    if (lane.received_at_visit.exchange(received, std::memory_order_relaxed) != received)
      lane.idle_visits.store(0, std::memory_order_relaxed);
  }
  return delivered;
}

std::int32_t Lanes::prepare_wait(std::span<int> descriptors, Time now, Time& until) {
  bool may = true;
  for (std::uint32_t number = 0; number < count_; ++number) {
    descriptors[number] = lanes_[number].parts.socket->descriptor();
    if (descriptors[number] < 0) return poll_again;
    if (Endpoint* const endpoint = lanes_[number].endpoint.load(std::memory_order_acquire))
      may &= endpoint->may_wait(now, until);
  }
  // Also where it may not: the polls of one lane do not end what is left to be done on another.
  if (count_ != 1) has_waited_.store(true, std::memory_order_relaxed);
  return may ? static_cast<std::int32_t>(count_) : poll_again;
}

std::size_t Lanes::visit(std::uint32_t number, std::uint32_t channels, std::size_t max, Time now) {
  Lane& lane = lanes_[number];
  const std::uint32_t own_polls = lane.own_polls.load(std::memory_order_relaxed);
  if (lane.polls_at_visit.exchange(own_polls, std::memory_order_relaxed) != own_polls) return 0;
  Endpoint& endpoint = open(number);
  const std::size_t delivered = endpoint.poll(channels, max, now);
  const std::uint64_t received = endpoint.received();
  const bool is_idle =
      lane.received_at_visit.exchange(received, std::memory_order_relaxed) == received &&
      delivered == 0 && !endpoint.has_unacknowledged();
  if (!is_idle)
    lane.idle_visits.store(0, std::memory_order_relaxed);
  else
    lane.idle_visits.fetch_add(1, std::memory_order_relaxed);
  return delivered;
}

std::string Lanes::counts_text() {
  EndpointCounts counts;
  SocketCounts system;
  for (std::uint32_t number = 0; number < count_; ++number) {
    add(system, lanes_[number].parts.socket->counts());
    if (Endpoint* endpoint = lanes_[number].endpoint.load(std::memory_order_acquire))
      add(counts, endpoint->counts_now());
  }
  return text_of(counts, system);
}

std::string Lanes::peers_text() {
  std::size_t live = 0;
  for (const Lane& lane : lanes_)
    if (const Endpoint* endpoint = lane.endpoint.load(std::memory_order_acquire))
      live = std::max(live, endpoint->live_peers());
  return "datagrams were exchanged with " + std::to_string(live) + " of " +
         std::to_string(host_.size - 1) + " other ranks";
}

std::string Lanes::paths_text() {
  // Bytes of packets, and the most that the interface takes: the ranks.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> narrow;
  std::uint64_t narrowed = 0;
  for (std::uint32_t rank = 0; rank < host_.size; ++rank) {
    const PathSearch path = first_->path_to(rank);
    narrowed += path.narrowed();
    if (path.rounds() != 0 && path.size() < path.max())
      narrow[{path.size() + path.headers(), path.max() + path.headers()}].push_back(rank);
  }
  std::string text;
  for (const auto& [sizes, ranks] : narrow) {
    text += (text.empty() ? "packets of up to " : "; of up to ") + std::to_string(sizes.first) +
            " bytes, where the interface takes " + std::to_string(sizes.second) + ", to rank";
    constexpr std::size_t named = 8;
    for (std::size_t i = 0; i < std::min(named, ranks.size()); ++i)
      text += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
    if (ranks.size() > named) text += " and " + std::to_string(ranks.size() - named) + " more";
  }
  if (narrowed != 0)
    text += (text.empty() ? "the way" : "; the way") + std::string(" to a rank became narrower ") +
            std::to_string(narrowed) + (narrowed == 1 ? " time" : " times");
  return text;
}

void Lanes::leave(Time (*clock)() noexcept) {
  for (std::uint32_t number = 0; number < count_; ++number) open(number).shorten_waits();
  // What peers still send to a lane that is not open here must be acknowledged.
  std::uint64_t received = 0;
  Time last_received = clock();
  for (bool is_quiet = false; !is_quiet && clock() - last_received < patience;) {
    std::uint64_t received_now = 0;
    is_quiet = true;
    for (std::uint32_t number = 0; number < count_; ++number) {
      Endpoint& endpoint = open(number);
      endpoint.poll(0, 0, clock());
      received_now += endpoint.received();
      is_quiet &= endpoint.is_quiet();
    }
    if (received_now != received) {
      received = received_now;
      last_received = clock();
    } else if (!is_quiet) {
      std::this_thread::yield();
    }
  }
  for (std::uint32_t number = 0; number < count_; ++number) {
    Endpoint& endpoint = open(number);
    endpoint.poll(0, 0, clock());
#ifdef GEX_DEBUG
    endpoint.check_invariants();
#endif
    endpoint.send_farewells(clock());
  }
}

}  // namespace gex::net::udp
