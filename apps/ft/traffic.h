#pragma once

#include <cstdint>

namespace ft {

/// The cost of one rank's transposes.
struct Traffic {
  std::uint64_t messages = 0;  ///< Messages to itself included, as Table 1 counts them.
  std::uint64_t bytes = 0;
  double starting = 0;  ///< Seconds inside the calls that start communication.
  double waiting = 0;   ///< Seconds waiting for completion, and for peers.
};

}  // namespace ft
