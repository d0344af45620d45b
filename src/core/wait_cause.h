#pragma once
// The causes for which threads wait. Read by gextrace too, which links no room but base: constants
// only.

#include <cstdint>

namespace gex {

/// A thread waits for one of these. The numbers are part of trace files.
enum class WaitCause : std::uint16_t {
  completion = 0,        ///< of operations
  local_completion = 1,  ///< until their sources may be written
  room = 2,              ///< flow control: room for a message
  barrier = 3,
  collective = 4,
  exchange = 5,  ///< members exchange what a new team or segment needs
  lock = 6,
};
inline constexpr unsigned wait_causes = 7;

}  // namespace gex
