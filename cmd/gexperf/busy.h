#pragma once
// `gexperf busy`: what operations take that wait for another rank, beside other programs that want
// the processors.

#include <string>
#include <vector>

#include "measure.h"

namespace gexperf {

inline constexpr std::string_view busy_word = "busy";

/// Why the other words of a command line that has `busy` name no networks; empty: they do.
std::string check_busy_words(const std::vector<std::string>& words);

/// Measures beside each load, and prints a line for each figure, or all of them as JSON. Returns
/// the exit status.
int measure_busy(const Plan& plan, const std::vector<std::string>& words, bool json);

}  // namespace gexperf
