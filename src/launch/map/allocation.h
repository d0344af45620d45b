#pragma once
// The allocation of a batch system in which gexrun runs.

#include <cstdint>
#include <optional>
#include <string>

namespace gex::launch {

struct Allocation {
  std::string system;  ///< "Slurm job 7"
  std::uint32_t hosts = 0;
  std::string names;  ///< as the batch system lists them
};

/// The allocation that the environment describes (Slurm, PBS, LSF, Grid Engine, Cobalt, OAR, Flux),
/// if it has more than one host.
std::optional<Allocation> allocation_of_several_hosts();

}  // namespace gex::launch
