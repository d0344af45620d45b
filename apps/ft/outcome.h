#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "problem.h"
#include "traffic.h"

namespace ft {

/// The results that the root has after a run; on the other ranks it is empty.
struct Outcome {
  std::string variant;
  double seconds = 0;
  std::vector<Complex> checksums;     ///< One per iteration.
  std::vector<Traffic> traffic;       ///< One per rank.
  std::size_t expected_messages = 0;  ///< Each rank's, by the variant's formula (variant.h).
};

}  // namespace ft
