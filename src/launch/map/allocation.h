#pragma once
// The allocation of a batch system in which gexrun runs: its hosts, and how programs are started
// there.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/map/host_slots.h"

namespace gex::launch {

struct Allocation {
  std::string system;            ///< "Slurm job 7"
  std::string hosts_from;        ///< the variable that lists the hosts: "SLURM_JOB_NODELIST"
  std::uint32_t host_count = 0;  ///< 0: it is not known
  std::vector<HostSlots> hosts;  ///< empty if the list cannot be read
  std::string why_no_hosts;      ///< "PBS_NODEFILE=/a cannot be read: No such file or directory"
  /// The system's own command that starts a program on a host: the words before the host's name. It
  /// leaves the program's words alone. Empty if the system has none.
  std::vector<std::string> remote_start;
  /// That command passes standard input on, and the program's output back.
  bool passes_streams = true;
  /// The word for a host in that command, where it is not the host's name.
  std::map<std::string, std::string> start_words;
};

/// The allocation that the environment describes (Slurm, PBS, LSF, Grid Engine, Cobalt, OAR, Flux).
/// One whose hosts can be read comes before others.
std::optional<Allocation> allocation();

/// This host is the only one of the allocation, as far as it is known.
bool is_this_host_alone(const Allocation& allocation);

/// The hosts with slots for so many ranks. Where the allocation has fewer, each host gets more in
/// proportion.
std::vector<HostSlots> with_slots_for(std::uint32_t ranks, std::vector<HostSlots> hosts);

}  // namespace gex::launch
