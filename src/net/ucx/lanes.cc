#include "net/ucx/lanes.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "net/kit/processors.h"

namespace gex::net::ucx {

namespace {

/// How long a rank that leaves waits for peers that do not answer the end of a connection.
constexpr std::chrono::seconds close_limit{1};

}  // namespace

Lane::Lane(const Host& host, const Context& context, Segments& segments, bool takes_offers,
           std::string& error)
    : worker(context, host.threaded != 0, error),
      endpoints(host, worker),
      one_sided(host, worker, endpoints, segments),
      network(host, worker, endpoints, one_sided, takes_offers) {
}

std::uint32_t Lanes::count_for(const Host& host) {
  return std::min(lane_count(host, host.env_integer("GEX_UCX_LANES")), possible_connections(host));
}

std::string Lanes::describe(const Host& host) {
  return describe_lanes(host.env_integer("GEX_UCX_LANES"), "workers", "GEX_UCX_LANES");
}

Lanes::Lanes(const Host& host, const Context& context, Segments& segments, std::size_t key_bytes,
             std::unique_ptr<Lane> first)
    : LaneSet(host, "ucx", count_for(host), std::move(first)),
      host_(host),
      context_(context),
      segments_(segments),
      key_bytes_(key_bytes) {
}

std::unique_ptr<Lane> Lanes::make(std::uint32_t /*number*/, std::string& error) {
  auto lane = std::make_unique<Lane>(host_, context_, segments_, false, error);
  if (error.empty()) lane->network.start(key_bytes_, error);
  if (error.empty()) lane->address = lane->worker.address(error);
  lane->leads_to = std::make_unique<std::atomic<bool>[]>(host_.size);
  return lane;
}

void Lanes::meet(Lane& lane, std::uint32_t peer, const std::vector<std::byte>& address) {
  std::atomic<bool>& leads_there = lane.leads_to[peer];
  if (leads_there.load(std::memory_order_relaxed)) return;
  {
    const Worker::Use use(lane.worker);
    lane.endpoints.connect(peer, address);
  }
  // Release: pairs with `of_thread`.
  leads_there.store(true, std::memory_order_release);
}

void Lanes::take_offers() {
  for (LaneOffer& one : first().network.take_offers())
    accept_offer(one.lane, one.source, std::move(one.address));
}

SendResult Lanes::flush(std::uint32_t peer, void* done) {
  const std::span<Lane* const> open = open_lanes();
  if (open.size() == 1) return first().one_sided.flush(peer, done);
  auto* const group = new FlushGroup{.done = done};
  for (Lane* lane : open) lane->one_sided.flush_for(*group, peer);
  first().one_sided.part_is_done(*group);
  return sent;
}

void Lanes::leave() {
  drain();
  // All at the same time: two ranks may have opened theirs in different orders, and each lane's
  // end needs the other rank's progress in it.
  for (Lane* lane : open_lanes()) lane->endpoints.begin_to_close();
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + close_limit;
  for (;;) {
    bool is_closed = true;
    for (Lane* lane : open_lanes()) is_closed = lane->endpoints.advance_closing() && is_closed;
    if (is_closed || Clock::now() > until) break;
    std::this_thread::yield();
  }
  for (Lane* lane : open_lanes()) lane->endpoints.end_closing();
}

}  // namespace gex::net::ucx
