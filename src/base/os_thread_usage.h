#pragma once
// How much the calling thread has run.

#include <cstdint>

namespace gex::os {

struct ThreadUsage {
  std::uint64_t ran_ns;       ///< in all
  std::uint64_t sleeps;       ///< how often it gave its processor up to wait for something
  std::uint64_t preemptions;  ///< how often the system took it from it
};

/// One system call of some 200 ns.
ThreadUsage thread_usage() noexcept;

}  // namespace gex::os
