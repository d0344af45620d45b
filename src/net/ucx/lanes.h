#pragma once
// The workers of a process, so that its threads do not share one and its lock.
//
// A thread sends over the lane of its number and begins its polls there. Every process has the
// first lane. A further one, a worker with all that goes over it, is opened when a thread of its
// number sends or transfers something, or when a peer offers that lane to a process with such a
// thread: a process with one thread has one worker, and polls nothing else. Nothing relies on an
// order between messages of two lanes, and what is kept of peers is kept for each lane by itself.
//
// Two processes agree on a lane by messages over the first one: each offers the address of its
// worker once it has opened the lane. As soon as a process has the peer's, its threads of that lane
// go over it, and until then over the first, whose connections exist. A process that never opens
// the lane is reached over the first.
//
// A poll visits the thread's own lane, and one of the others when it finds nothing there, at the
// latest every few times. It leaves alone a lane that a thread of that lane has polled since the
// visit before: what came over a lane whose thread has ended or computes is delivered by the
// others.
//
// Thread rules: `enter`, `of_thread`, `holder_of`, `poll` and `flush` any.

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

#include "net/ucx/context.h"
#include "net/ucx/endpoints.h"
#include "net/ucx/network.h"
#include "net/ucx/one_sided.h"
#include "net/ucx/segments.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

/// A worker, and all that goes over it.
struct Lane {
  /// `error`: why there is none.
  Lane(const Host& host, const Context& context, std::string& error);
  /// When the keys' length is agreed on. `number`: its own.
  bool start(const Host& host, Segments& segments, std::size_t key_bytes, std::uint32_t number,
             std::string& error);

  Worker worker;
  Endpoints endpoints;
  std::unique_ptr<OneSided> one_sided;
  std::unique_ptr<Network> network;
  /// By its own threads; counts about right.
  alignas(64) std::atomic<std::uint32_t> polls{0};
};

class Lanes {
 public:
  static constexpr std::uint32_t max_lanes = 16;

  /// How many lanes a process may have: what GEX_UCX_LANES allows, or one for each processor of the
  /// rank's, which threads that share processors would gain nothing from. One without threads;
  /// fewer if so many connections could not be open.
  static std::uint32_t count_for(const Host& host);
  /// That as a text, for gexinfo.
  static std::string describe(const Host& host);

  /// `first`: the first lane, which has started.
  Lanes(const Host& host, const Context& context, Segments& segments, std::size_t key_bytes,
        std::unique_ptr<Lane> first);
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  Lane& first() noexcept { return *first_; }

  /// The calling thread goes by this number.
  void enter(std::uint32_t number);
  /// Over which lane the calling thread reaches a peer, now.
  Lane& of_thread(std::uint32_t peer);
  /// The lane that gave the place where a payload has been built; null: none did.
  Lane* holder_of(const void* payload) noexcept;

  std::size_t poll(std::uint32_t channels, std::size_t most);

  /// Of what was put to a peer over any lane.
  SendResult flush(std::uint32_t peer, void* done);

  /// Returns when what was sent is on its way and what was put is there, or after some seconds in
  /// which nothing moves; closes the connections. No other thread runs.
  void leave();

 private:
  struct Peer {
    std::atomic<bool> offered{false};   ///< this process's worker to it
    std::atomic<bool> is_known{false};  ///< its worker
  };
  /// What belongs to a lane whether it is open or not.
  struct Slot {
    std::unique_ptr<Lane> lane;
    std::atomic<Lane*> opened{nullptr};  ///< the first lane if this one could not be opened
    std::unique_ptr<Peer[]> peers;       ///< of one that is open
    std::vector<std::byte> address;      ///< of its worker
    std::vector<LaneOffer> offers;       ///< taken before it was opened
  };

  void take_offers();
  void take_offer(LaneOffer&& offer);
  /// Polls one of the other lanes, unless its own threads do.
  std::size_t visit_another(const Lane& own, std::uint32_t channels, std::size_t most);
  std::size_t poll_lane(Lane& lane, std::uint32_t channels, std::size_t most);
  /// The lane of the calling thread, if it is open or could be opened; else the first.
  Lane& own();
  // With the mutex held.
  Lane& open(std::uint32_t number);
  void offer(std::uint32_t number, std::uint32_t peer);
  void meet(std::uint32_t number, const LaneOffer& offer);

  const Host& host_;
  const Context& context_;
  Segments& segments_;
  const std::size_t key_bytes_;
  const std::uint32_t count_;
  std::array<Slot, max_lanes> slots_;
  Lane* first_;
  std::array<Lane*, max_lanes> open_{};       ///< in the order in which they were opened
  std::atomic<std::uint32_t> open_count_{1};  ///< of them
  std::atomic<std::uint32_t> entered_{0};     ///< bits: lanes with a thread
  std::mutex mutex_;                          ///< of slots and of opening
};

}  // namespace gex::net::ucx
