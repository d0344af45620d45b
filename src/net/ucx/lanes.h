#pragma once
// The workers of a process, so that its threads do not share one and its lock (net/kit/lanes.h).
//
// A further lane is a worker with all that goes over it. What a process offers is the address of
// its worker. As soon as a process has the peer's, its threads of that lane go over it.
//
// Thread rules: all but the constructor and `leave` any.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/kit/lanes.h"
#include "net/ucx/context.h"
#include "net/ucx/endpoints.h"
#include "net/ucx/network.h"
#include "net/ucx/one_sided.h"
#include "net/ucx/segments.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

/// A worker, and all that goes over it.
struct Lane {
  /// `takes_offers`: it is the first one. `error`: why there is none.
  Lane(const Host& host, const Context& context, Segments& segments, bool takes_offers,
       std::string& error);

  Worker worker;
  Endpoints endpoints;
  OneSided one_sided;
  Network network;

  // Only further lanes have these.
  std::vector<std::byte> address;
  std::unique_ptr<std::atomic<bool>[]> leads_to;  ///< by peer

  /// By its own threads; counts about right.
  alignas(64) std::atomic<std::uint32_t> polls{0};
};

class Lanes final : public LaneSet<Lanes, Lane, std::vector<std::byte>> {
 public:
  /// How many lanes a process may have: `lane_count` of GEX_UCX_LANES; fewer if so many connections
  /// could not be open.
  static std::uint32_t count_for(const Host& host);
  /// Describes that number for gexinfo.
  static std::string describe(const Host& host);

  /// `first`: the first lane, which has started.
  Lanes(const Host& host, const Context& context, Segments& segments, std::size_t key_bytes,
        std::unique_ptr<Lane> first);

  /// Over which lane the calling thread reaches a peer, now.
  Lane& of_thread(std::uint32_t peer) {
    // Acquire: the endpoint is there.
    return over(peer, [peer](const Lane& lane) {
      return lane.leads_to[peer].load(std::memory_order_acquire);
    });
  }

  /// Flushes what was put to a peer over any lane.
  SendResult flush(std::uint32_t peer, void* done);

  /// Returns when what was sent is on its way and what was put is there, or after some seconds in
  /// which nothing moves; closes the connections. No other thread runs.
  void leave();

 private:
  friend LaneSet;

  std::unique_ptr<Lane> make(std::uint32_t number, std::string& error);
  bool send_offer(const Lane& lane, std::uint32_t number, std::uint32_t peer) {
    return first().network.send_offer(peer, number, lane.address);
  }
  static void meet(Lane& lane, std::uint32_t peer, const std::vector<std::byte>& address);
  Lane& for_messages(std::uint32_t peer) { return of_thread(peer); }
  std::size_t poll_lane(Lane& lane, std::uint32_t channels, std::size_t max) {
    const std::size_t delivered = lane.network.poll(channels, max);
    if (&lane == &first() && lane.network.has_offers()) [[unlikely]]
      take_offers();
    return delivered;
  }
  void take_offers();

  const Host& host_;
  const Context& context_;
  Segments& segments_;
  const std::size_t key_bytes_;
};

}  // namespace gex::net::ucx
