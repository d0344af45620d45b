#pragma once
// The endpoints of a process, so that its threads do not share one and its locks.
//
// A thread sends over the lane of its number and begins its polls there. Every process has the
// first lane. A further one is opened when a thread of its number sends or transfers something, or
// when a peer offers that lane to a process with such a thread: a process with one thread has one
// endpoint, and polls nothing else. Nothing relies on an order between messages of two lanes, and
// everything that a Network keeps of peers it keeps for each lane by itself.
//
// Two processes agree on a lane by messages over the first one. A process that has opened it offers
// its endpoint to a peer, which answers with its own, or that it has none. Each then sends a
// handshake over the lane; once its own is on its way, messages of its threads follow over the
// lane, and until then go over the first one, whose connections exist: so no message waits for a
// connection. One-sided operations take the lane as well, to the peer's first endpoint if it has no
// other. Messages do not, because what is lost on a lane is found by counting at both ends of it.
//
// A poll visits the thread's own lane, and one of the others when it finds nothing there, at the
// latest every few times. It leaves alone a lane that a thread of that lane has polled since the
// visit before: what came over a lane whose thread has ended or computes is delivered by the
// others.
//
// Thread rules: `enter`, `for_messages`, `for_transfers`, `holder_of` and `poll` any.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

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
  /// By its own threads; counts about right.
  alignas(64) std::atomic<std::uint32_t> polls{0};
};

class Lanes final : private OfferSink {
 public:
  static constexpr std::uint32_t max_lanes = 16;

  /// How many lanes a process may have: what GEX_OFI_LANES allows, or one for each processor of the
  /// rank's, which threads that share processors would gain nothing from. One without threads, and
  /// over a provider whose endpoints disturb each other; fewer if so many connections could not be
  /// open.
  static std::uint32_t count_for(const Host& host, const fi_info& info);
  /// That as a text, for gexinfo.
  static std::string describe(const Host& host, const fi_info& info);

  /// `endpoints`: one for each lane, of which the first is enabled.
  Lanes(const Host& host, Domain& domain, Registrar& registrar, const Segments& segments,
        std::vector<std::unique_ptr<Endpoint>> endpoints);
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  Lane& first() noexcept { return *first_; }

  /// The calling thread goes by this number.
  void enter(std::uint32_t number);
  /// Over which lane the calling thread reaches a peer, now.
  Lane& for_messages(std::uint32_t peer);
  Lane& for_transfers(std::uint32_t peer);
  /// The lane that gave the place where a payload has been built; null: none did.
  Lane* holder_of(const void* payload) noexcept;

  std::size_t poll(std::uint32_t channels, std::size_t most);

  /// Returns when peers have everything that they were sent, or after some seconds of silence.
  /// Closes the endpoints.
  void leave();

 private:
  struct Peer {
    std::atomic<bool> offered{false};
    enum class Met : std::uint8_t { no, first_endpoint, same_lane } met = Met::no;
  };
  struct Offered {
    std::uint32_t source;
    LaneOffer offer;
  };
  /// What belongs to a lane whether it is open or not.
  struct Slot {
    std::unique_ptr<Endpoint> endpoint;  ///< until it is opened
    std::unique_ptr<Lane> lane;
    std::atomic<Lane*> opened{nullptr};  ///< the first lane if this one could not be opened
    std::unique_ptr<Peer[]> peers;       ///< of one that is open
    std::vector<Offered> offers;         ///< taken before it was opened
  };

  void take_offer(std::uint32_t source, const LaneOffer& offer) override;
  /// Polls one of the other lanes, unless its own threads do.
  std::size_t visit_another(const Lane& own, std::uint32_t channels, std::size_t most);
  /// The lane of the calling thread, if it is open or could be opened; else the first.
  Lane& own();
  Lane& open(std::uint32_t number);
  // With the mutex held.
  Lane& open_now(std::uint32_t number);
  void offer(std::uint32_t number, std::uint32_t peer);
  void meet(std::uint32_t number, std::uint32_t source, const LaneOffer& offer);
  void answer_that_there_is_none(std::uint32_t number, std::uint32_t peer);

  const Host& host_;
  Domain& domain_;
  Registrar& registrar_;
  const Segments& segments_;
  const std::uint32_t count_;
  std::array<Slot, max_lanes> slots_;
  Lane* first_;
  std::array<Lane*, max_lanes> open_{};       ///< in the order in which they were opened
  std::atomic<std::uint32_t> open_count_{1};  ///< of them
  std::atomic<std::uint32_t> entered_{0};     ///< bits: lanes with a thread
  std::mutex mutex_;                          ///< of slots and of opening
};

}  // namespace gex::net::ofi
