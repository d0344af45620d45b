#pragma once
// The hosts of the job and how programs are started on them: those of the command line, otherwise
// those of the batch system's allocation in which gexrun runs, otherwise this host alone.

#include <string>
#include <vector>

#include "launch/agents/launch_agents.h"
#include "launch/map/host_slots.h"
#include "options.h"

namespace gexrun {

struct Hosts {
  std::vector<gex::launch::HostSlots> slots;  ///< empty: this host, with room for all ranks
  gex::launch::RemoteStart remote;
};

/// Prints a line where the hosts of an allocation are not used, and with --verbose where they are.
/// `nested`: gexrun runs as the program of a rank, and the allocation is the outer job's.
Hosts choose_hosts(const Options& options, bool nested);

/// Returns why the hosts of a job cannot be reached from this one, as far as that can be seen here;
/// empty: they can.
std::string why_unreachable(const gex::job::HostParts& parts, const Hosts& hosts);

}  // namespace gexrun
