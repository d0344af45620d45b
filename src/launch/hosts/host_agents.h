#pragma once
// How a root reaches the hosts of its job, if it is the one that starts their guardians.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/event_loop.h"
#include "launch/hosts/auth_handshake.h"
#include "launch/hosts/host_tree.h"
#include "launch/hosts/root_hosts.h"
#include "launch/hosts/root_place.h"

namespace gex::launch {

/// One agent for each host: a process through which the output of the host's ranks comes, and whose
/// failure is the loss of the host. The root starts it, or the agent of another host.
class HostAgents : public Timed {
 public:
  virtual ~HostAgents() = default;

  /// The hosts that this process starts, and those that they start in turn.
  virtual const HostTree& tree() const = 0;
  /// From where the hosts' guardians connect.
  virtual Reach reach() const = 0;

  /// Starts the agents of the hosts, whose guardians are to connect to `root`. Returns the message
  /// to the user if that fails.
  virtual std::optional<std::string> start(const RootHosts& hosts, HostEvents& events,
                                           const RootPlace& root) = 0;

  /// The guardian of a host has connected.
  virtual void handle_connected(std::uint32_t host) = 0;
  /// So has the agent of a host, which starts others.
  virtual void handle_branch_connected(std::uint32_t host) = 0;
  /// Starts a host that its agent does not reach, and thereby those below it: all of `moved`.
  virtual void take_over(std::uint32_t host, const std::vector<std::uint32_t>& moved,
                         const std::string& why) = 0;
  /// A child of the root has ended, with this wait status.
  virtual void handle_exit(pid_t process, int status) = 0;
  /// Kills the agent of a host.
  virtual void kill(std::uint32_t host) = 0;
  /// The host is done. If it has not `finished` properly, its agent is killed soon.
  virtual void retire(std::uint32_t host, bool finished) = 0;

  /// A descriptor that is readable once all output of the ranks is written.
  virtual int output_event() const = 0;
  /// Returns true if all output of the ranks is written.
  virtual bool output_finished() const = 0;
  /// Returns true if some of it could not be written.
  virtual bool lost_output() const = 0;
  /// Called last: stops waiting for output.
  virtual void finish() = 0;
};

}  // namespace gex::launch
