#pragma once
// The one-sided traffic of one transform: puts into the peers' landing areas, their completion, and
// what both cost. mpi/communication.h has the like with two sides.

#include <gasnetex.h>
// gasnet_tools.h wants gasnetex.h before it.
#include <gasnet_tools.h>

#include <cstdint>
#include <vector>

#include "../arrival.h"
#include "../job.h"
#include "../problem.h"
#include "../traffic.h"

namespace ft {

/// Puts go to the landing area of a peer: as many elements as this rank has, at the same place in
/// every segment. A transpose is: `wait_for_peers`, any number of `put`, `complete`; afterwards the
/// own landing area holds what every rank put there, and no rank writes it until `release_landing`.
///
/// Releasing does not wait, and waiting comes as late as the first put: between the two a rank
/// computes on while others finish.
class Communication {
 public:
  /// No rank needs to expect what others put.
  static constexpr bool kIsTwoSided = false;

  /// The puts of a region, until they are complete.
  using Pending = gex_Event_t;

  Communication(const Job& job, const Complex* landing)
      : job_(job),
        landing_offset_(static_cast<std::size_t>(reinterpret_cast<const std::byte*>(landing) -
                                                 job.segment())) {}

  /// Starts sending `count` elements to place `offset` of `rank`'s landing area. `source` must stay
  /// as it is until the region that contains the put, or `complete`, is done.
  void put(std::size_t rank, std::size_t offset, const Complex* source, std::size_t count) {
    const auto to = static_cast<gex_Rank_t>(rank);
    std::byte* target = job_.segment_of(to) + landing_offset_ + offset * sizeof(Complex);
    const gasnett_tick_t start = gasnett_ticks_now();
    gex_RMA_PutNBI(job_.team(), to, target, source, count * sizeof(Complex), GEX_EVENT_DEFER, 0);
    starting_ += gasnett_ticks_now() - start;
    ++messages_;
    bytes_ += count * sizeof(Complex);
  }

  /// The puts between these two calls are complete when what is returned has been waited for, or is
  /// done.
  void begin_region() { gex_NBI_BeginAccessRegion(0); }
  Pending end_region() { return gex_NBI_EndAccessRegion(0); }

  void wait(Pending& pending) {
    const gasnett_tick_t start = gasnett_ticks_now();
    gex_Event_Wait(pending);
    pending = GEX_EVENT_INVALID;
    waiting_ += gasnett_ticks_now() - start;
  }

  static bool is_done(Pending& pending) {
    if (gex_Event_Test(pending) != GASNET_OK) return false;
    pending = GEX_EVENT_INVALID;
    return true;
  }

  /// Puts that the network delivers by active messages arrive only where ranks poll.
  static void progress() { gasnet_AMPoll(); }

  /// Waits for the puts outside of regions, then for every rank to arrive here.
  void complete() {
    const gasnett_tick_t start = gasnett_ticks_now();
    gex_NBI_Wait(GEX_EC_PUT, 0);
    job_.barrier();
    waiting_ += gasnett_ticks_now() - start;
  }

  /// Lets the peers write the own landing area again.
  void release_landing(const std::vector<Arrival>&) {
    peers_ready_ = gex_Coll_BarrierNB(job_.team(), 0);
  }

  /// Waits until all have released theirs. Not within a region.
  void wait_for_peers() {
    if (peers_ready_ == GEX_EVENT_INVALID) return;
    wait(peers_ready_);
  }

  /// Job::gather, as part of what communication costs.
  void gather(const void* mine, void* all, std::size_t bytes) {
    const gasnett_tick_t start = gasnett_ticks_now();
    job_.gather(mine, all, bytes);
    waiting_ += gasnett_ticks_now() - start;
  }

  /// Seconds, of which only differences mean anything.
  static double now() { return seconds(gasnett_ticks_now()); }

  void reset() { messages_ = bytes_ = starting_ = waiting_ = 0; }

  Traffic traffic() const { return {messages_, bytes_, seconds(starting_), seconds(waiting_)}; }

 private:
  static double seconds(std::uint64_t ticks) {
    return 1e-9 * static_cast<double>(gasnett_ticks_to_ns(ticks));
  }

  const Job& job_;
  const std::size_t landing_offset_;
  gex_Event_t peers_ready_ = GEX_EVENT_INVALID;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t starting_ = 0;
  std::uint64_t waiting_ = 0;
};

}  // namespace ft
