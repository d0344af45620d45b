#pragma once
// Ranks in messages: "0-2,5".

#include <cstdint>
#include <string>
#include <vector>

namespace gex::boot {

/// The ranks, which are in rising order, as text: consecutive ones are joined, and what would be
/// longer than a line can bear is cut with a count. "rank 3", "ranks 0-2,5", "no rank".
std::string describe_ranks(const std::vector<std::uint32_t>& ranks);

/// "rank 3 (host node7, pid 4711)".
std::string rank_name(std::uint32_t rank, const std::string& host, int process);

}  // namespace gex::boot
