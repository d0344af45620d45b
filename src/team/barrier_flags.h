#pragma once
// Questions about the flags of a barrier: how far members of a team have come, and where they ran.

#include <algorithm>
#include <cstdint>
#include <span>

#include "shm/neighborhood.h"

namespace gex::team {

using BarrierFlags = std::span<const shm::BarrierFlag* const>;

/// a has come as far as b; counts wrap around.
inline bool reached(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) >= 0;
}

/// The least of some flags, or `wanted` if all have reached it.
inline std::uint32_t least_of(BarrierFlags flags, std::uint32_t wanted) noexcept {
  std::uint32_t least = wanted;
  for (const shm::BarrierFlag* flag : flags) {
    // Acquire: pairs with the release of the member that raised it.
    const std::uint32_t value = flag->number.load(std::memory_order_acquire);
    if (!reached(value, least)) least = value;
  }
  return least;
}

/// Whether somebody who has not reached `wanted` ran on that core when they arrived at the barrier
/// before. Relaxed: a hint.
inline bool any_missing_on(std::uint32_t core, BarrierFlags flags, std::uint32_t wanted) noexcept {
  return std::any_of(flags.begin(), flags.end(), [&](const shm::BarrierFlag* flag) {
    return !reached(flag->number.load(std::memory_order_relaxed), wanted) &&
           flag->core.load(std::memory_order_relaxed) == core;
  });
}

}  // namespace gex::team
