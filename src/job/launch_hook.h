#pragma once
// The hook by which a rank that no gexrun has started gets the processes of its job: the launcher
// (GASNET_PSHM_NODES), or guardians and a root (foreign launchers). The launcher's room implements
// it (launch/hook.h), and what links that room registers it: libgex does so when it starts.

#include <cstdint>
#include <string>

#include "job/host_parts.h"
#include "job/protocol.h"

namespace gex::job {

struct LaunchHook {
  /// Turns this process into the launcher of a job on this host, whose ranks are its forks. Returns
  /// in the ranks only; this process exits with the job's status.
  Membership (*fork_ranks)(std::uint32_t ranks);

  /// Starts, as a process of its own, the root of a job on these hosts, several of them. Returns
  /// its address as text that any launcher can publish.
  std::string (*start_root)(const HostParts& hosts);

  /// Starts, as a process of its own, the guardian of host number `host`, which adopts the ranks
  /// there. `root` is the address of the job's root; empty: there is one host. Returns the name of
  /// the guardian's abstract socket, to which ranks connect; empty: `root` is no address.
  std::string (*start_guardian)(const HostParts& hosts, std::uint32_t host,
                                const std::string& root);
};

/// Registers the hook, before `Job::join`.
void set_launch_hook(const LaunchHook& hook) noexcept;

/// The registered hook. Ends the process with a message if there is none.
const LaunchHook& launch_hook();

}  // namespace gex::job
