#pragma once
// Operations repeated for a time, whatever one of them takes: what `gexperf busy` asks of a rank.

#include <string_view>

#include "job.h"

namespace gexperf {

/// The operation in which rank 0 wakes rank 1, which sleeps in a barrier until then.
inline constexpr std::string_view wake_up = "wake";

/// The operation of programs that compute in steps: 200 us of each rank's own processor time, and a
/// barrier.
inline constexpr std::string_view computed_step = "step";

/// Repeats the operation of that name for about so many milliseconds, and has rank 0 print what one
/// took on average: "mean", nanoseconds. Collective, of two ranks.
void repeat_for(const Job& job, std::string_view name, double milliseconds);

}  // namespace gexperf
