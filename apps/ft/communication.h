#pragma once
// The one-sided traffic of one transform: puts into the peers' landing areas, their completion, and
// what both cost.

#include <gasnetex.h>
// gasnet_tools.h wants gasnetex.h before it.
#include <gasnet_tools.h>

#include <cstdint>

#include "job.h"
#include "problem.h"

namespace ft {

/// What one rank's transposes cost it.
struct Traffic {
  std::uint64_t messages = 0;  ///< Puts, those to itself included, as Table 1 counts them.
  std::uint64_t bytes = 0;
  double starting = 0;  ///< Seconds inside the calls that start puts.
  double waiting = 0;   ///< Seconds waiting for completion, and for peers.
};

/// Puts go to the landing area of a peer: as many elements as this rank has, at the same place in
/// every segment. A transpose is: `wait_for_peers`, any number of `put`, `complete`; afterwards the
/// own landing area holds what every rank put there, and no rank writes it until `release_landing`.
///
/// Releasing does not wait, and waiting comes as late as the first put: between the two a rank
/// computes on while others finish.
class Communication {
 public:
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

  /// The puts between these two calls complete with the event returned, to be passed to `wait` or
  /// to a successful `is_done`.
  void begin_region() { gex_NBI_BeginAccessRegion(0); }
  gex_Event_t end_region() { return gex_NBI_EndAccessRegion(0); }

  void wait(gex_Event_t event) {
    const gasnett_tick_t start = gasnett_ticks_now();
    gex_Event_Wait(event);
    waiting_ += gasnett_ticks_now() - start;
  }

  static bool is_done(gex_Event_t event) { return gex_Event_Test(event) == GASNET_OK; }

  /// Waits for the puts outside of regions, then for every rank to arrive here.
  void complete() {
    const gasnett_tick_t start = gasnett_ticks_now();
    gex_NBI_Wait(GEX_EC_PUT, 0);
    job_.barrier();
    waiting_ += gasnett_ticks_now() - start;
  }

  /// Lets the peers write the own landing area again.
  void release_landing() { peers_ready_ = gex_Coll_BarrierNB(job_.team(), 0); }

  /// Waits until all have released theirs. Not within a region.
  void wait_for_peers() {
    if (peers_ready_ == GEX_EVENT_INVALID) return;
    wait(peers_ready_);
    peers_ready_ = GEX_EVENT_INVALID;
  }

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
