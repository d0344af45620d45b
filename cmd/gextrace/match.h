#pragma once
// Which handler a message has run.

#include <cstdint>
#include <vector>

#include "read.h"

namespace gextrace {

/// A place in a job: the event `event` of the rank at index `rank` (not its number).
struct Place {
  std::uint32_t rank;
  std::uint32_t event;
};

/// A message: from where it was sent to the begin of its handler.
struct Arrow {
  Place from;
  Place to;
};

/// Counts of what became of the messages.
struct Messages {
  std::vector<Arrow> arrows;
  std::uint64_t sent = 0;     ///< by the ranks that were read
  std::uint64_t handled = 0;  ///< there
};

/// Finds the pairs, in a job whose ticks are converted. Of messages over a network, which name
/// themselves modulo 2^network_id_bits, the number nearest to those that came before is taken.
Messages match(const Job& job);

}  // namespace gextrace
