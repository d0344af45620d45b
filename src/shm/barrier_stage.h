#pragma once
// The words that the members of a team in one neighborhood share for a sequence of barriers that
// goes on in other neighborhoods (team/barrier_rounds.h). They lie with the lowest member.

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"

namespace gex::shm {

/// A round of dissemination: words that any member may raise, and that only grow.
struct BarrierRound {
  /// The furthest that has come, with its value, by the parity of the number of a named barrier.
  std::atomic<std::uint64_t> received[2];
  std::atomic<std::uint64_t> sent;  ///< the furthest that has left, and the receiver of the next
};

/// Enough for as many neighborhoods as there may be ranks.
inline constexpr unsigned max_barrier_rounds = 20;

/// Apart from others by pairs of lines, which processors fetch together.
struct alignas(2 * cache_line) BarrierStage {
  /// Changes while the leader makes progress. Alone in a line that it mostly keeps.
  std::atomic<std::uint32_t> pulse;
  alignas(cache_line) BarrierRound rounds[max_barrier_rounds];
  /// The member that leads, by its place among those of the neighborhood. Members that wait read
  /// it: it lies with the last round, which only the largest jobs have.
  std::atomic<std::uint32_t> leader;
};
static_assert(sizeof(BarrierStage) == 10 * cache_line);

}  // namespace gex::shm
