#pragma once
// Services that a rank that is part of this process gets from the program that runs it (ranks.cc).

#include <cstddef>
#include <cstdint>
#include <string>

namespace gex::sim {

struct Services {
  /// Maps a part of a file that ranks share, for all of them at the same addresses; null with errno
  /// on failure. It stays mapped until the process ends.
  std::byte* (*map_file)(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept;
  /// Returns true if `map_file` has mapped this address.
  bool (*has_mapped)(const void* address) noexcept;
};

/// The way into a module: runs its `main` as the rank whose control socket and place GEX_JOB's
/// value `membership` has, and returns what that returns.
using RunRank = int (*)(const Services& services, const char* membership, int argc, char** argv);
inline constexpr const char* run_rank_symbol = "gex_sim_run_rank";

}  // namespace gex::sim
