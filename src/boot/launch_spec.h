#pragma once
// What a launcher is asked to start, and how.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "boot/binding.h"
#include "boot/host_parts.h"

namespace gex::boot {

/// What is to be started, and how.
struct Launch {
  const char* program_name = "gex";  ///< who speaks in messages
  HostParts hosts;                   ///< of the whole job
  std::uint32_t host = 0;            ///< the one among them that this process is to start ranks on
  std::vector<std::string> command;  ///< empty: the ranks are forks of the calling process
  bool tag_output = false;           ///< begin each line with "[rank] "
  Bind bind = Bind::none;            ///< what ranks are bound to
  bool verbose = false;
  std::optional<double> time_limit;  ///< seconds until the job is ended with status 124
  double exit_timeout = 0;           ///< seconds a rank waits at its end for others; 0: for ever
  double exit_grace = 0;  ///< seconds from a rank's gasnet_exit to the end of those still at work
  /// The connection to the root of a job of several hosts; -1: this host is all of the job.
  int root = -1;
  /// Where the ranks of this host, which somebody else has started, connect; -1: they are started
  /// here.
  int adopts = -1;
  int launcher = 0;  ///< the process that has started those; 0: unknown
  /// Seconds within which those connect. They do as soon as they have heard where, which they all
  /// hear at once.
  double join_limit = 30;

  const HostPart& part() const { return hosts[host]; }
};

}  // namespace gex::boot
