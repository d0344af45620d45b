#pragma once

#include <cstdint>

namespace gex::job {

/// Largest number of ranks of a job.
inline constexpr std::uint32_t max_ranks = 1U << 20;

}  // namespace gex::job
