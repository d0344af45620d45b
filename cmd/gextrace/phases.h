#pragma once
// The communication of a job's ranks between two collectives of all of them, where all ranks do
// alike.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "program.h"

namespace gextrace {

/// The data that each rank sends, puts or gets, to or from all other ranks alike, or those so far
/// from it; or what passes between rank 0 and all others, begun by it or by them.
struct Traffic {
  static constexpr std::int64_t all = 0;
  static constexpr std::int64_t with_first = std::numeric_limits<std::int64_t>::max();

  Step::Kind kind;      ///< put, get or send
  std::int64_t offset;  ///< of the peer's number, or one of the above
  double messages;      ///< to each of these peers
  double bytes;         ///< of a message, on average
};

struct Phase {
  std::uint32_t number = 0;  ///< collective operations before it
  // Computing times in ns, averages over the ranks; where rank 0 does more than the others, its
  // own.
  double before = 0;  ///< what is sent first
  double beside = 0;  ///< from then on until nothing is awaited any more
  double after = 0;
  double rounds = 0;  ///< how often a rank waits for what it has begun; the most of all ranks
  std::vector<Traffic> traffic;
  std::optional<CollectiveShape> collective;  ///< that ends the phase; the last has none
  double collective_bytes = 0;
};

/// " between collective operations 3 and 4": the phase of number 3.
std::string between(std::uint32_t phase);

/// Nothing, and the reason in `why`, if ranks differ in more than their computing time, but for
/// rank 0.
std::optional<std::vector<Phase>> phases_of(const Programs& programs, std::string& why);

/// Leaves those after the collective operation `first`, 0 for the begin, up to `last`, which is
/// more. Returns false, with the reason, if there are not so many.
bool keep_between(std::vector<Phase>& phases, std::uint32_t first, std::uint32_t last,
                  std::string& why);

}  // namespace gextrace
