#pragma once
// One timed run of the benchmark with one variant.

#include <string>
#include <vector>

#include "memory.h"
#include "variant.h"

namespace ft {

/// What the root has after a run; on the other ranks it is empty.
struct Outcome {
  std::string variant;
  double seconds = 0;
  std::vector<Complex> checksums;     ///< One per iteration.
  std::vector<Traffic> traffic;       ///< One per rank.
  std::size_t expected_messages = 0;  ///< Of each rank, by the variant's formula: see variant.h.
};

/// Runs NAS FT: the initial conditions, the forward transform, then in each iteration the evolution
/// of the spectrum, its inverse transform and a checksum. As in NPB, all of it is timed, once it
/// has run untimed up to the forward transform. Collective.
Outcome run(const Job& job, const Grid& grid, const Memory& memory, const Variant& variant,
            int iterations);

}  // namespace ft
