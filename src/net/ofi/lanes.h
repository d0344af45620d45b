#pragma once
// The endpoints of a process, so that its threads do not share one and its locks
// (net/kit/lanes.h).
//
// A process that has opened a lane offers its endpoint to a peer, which answers with its own, or
// that it has none. Each then sends a handshake over the lane; once its own is on its way, messages
// of its threads follow over the lane: so no message waits for a connection. One-sided operations
// take the lane as well, to the peer's first endpoint if it has no other. Messages do not, because
// what is lost on a lane is found by counting at both ends of it.
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
#include "net/ofi/domain.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/network.h"
#include "net/ofi/one_sided.h"
#include "net/ofi/registration.h"
#include "net/ofi/segments.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

/// An endpoint in use, and all that goes over it.
struct Lane {
  Lane(const Host& host, std::unique_ptr<Endpoint> enabled, Registrar& registrar,
       const Segments& segments, OfferSink* offers, std::size_t offers_per_peer);

  std::unique_ptr<Endpoint> endpoint;
  OneSided one_sided;
  Network network;

  /// A further lane has made its connection, by peer, with one of these endpoints.
  enum class Met : std::uint8_t { no, first_endpoint, same_lane };
  std::vector<Met> met;

  /// By its own threads; counts about right.
  alignas(64) std::atomic<std::uint32_t> polls{0};
};

class Lanes final : private OfferSink, public LaneSet<Lanes, Lane, LaneOffer> {
 public:
  /// How many lanes a process may have: `lane_count` of GEX_OFI_LANES. One over a provider whose
  /// endpoints disturb each other; fewer if so many connections could not be open.
  static std::uint32_t count_for(const Host& host, const fi_info& info);
  /// Describes that number for gexinfo.
  static std::string describe(const Host& host, const fi_info& info);

  /// `endpoints`: one for each lane, of which the first is enabled.
  Lanes(const Host& host, Domain& domain, Registrar& registrar, const Segments& segments,
        std::vector<std::unique_ptr<Endpoint>> endpoints);

  // Over which lane the calling thread reaches a peer, now.
  Lane& for_messages(std::uint32_t peer) {
    return over(peer, [peer](const Lane& lane) {
      return lane.endpoint->message_route(peer) != FI_ADDR_NOTAVAIL;
    });
  }
  Lane& for_transfers(std::uint32_t peer) {
    return over(peer, [peer](const Lane& lane) {
      return lane.endpoint->transfer_route(peer) != FI_ADDR_NOTAVAIL;
    });
  }

  /// Returns when peers have everything that they were sent, or after some seconds of silence.
  /// Closes the endpoints.
  void leave();

 private:
  friend LaneSet;

  std::unique_ptr<Lane> make(std::uint32_t number, std::string& error);
  bool send_offer(const Lane& lane, std::uint32_t number, std::uint32_t peer);
  void meet(Lane& lane, std::uint32_t peer, const LaneOffer& offer);
  static std::size_t poll_lane(Lane& lane, std::uint32_t channels, std::size_t max) {
    return lane.network.poll(channels, max);
  }

  void handle_offer(std::uint32_t source, const LaneOffer& offer) override;
  void answer_that_there_is_none(std::uint32_t number, std::uint32_t peer);

  const Host& host_;
  Domain& domain_;
  Registrar& registrar_;
  const Segments& segments_;
  std::vector<std::unique_ptr<Endpoint>> unopened_;  ///< by lane
};

}  // namespace gex::net::ofi
