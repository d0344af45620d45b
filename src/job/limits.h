#pragma once

#include <cstdint>

namespace gex::job {

/// Largest number of ranks of a job.
inline constexpr std::uint32_t max_ranks = 131072;

}  // namespace gex::job
