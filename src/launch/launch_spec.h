#pragma once
// The specification of a job: what a launcher starts, and how.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/host_parts.h"
#include "launch/bind.h"
#include "launch/hang/hang_options.h"
#include "launch/link_keys.h"
#include "launch/terminal.h"

namespace gex::launch {

/// The specification of a job.
struct Launch {
  const char* program_name = "gex";  ///< the prefix of messages
  job::HostParts hosts;              ///< all hosts of the job
  std::uint32_t host = 0;            ///< the number of the host on which this process starts ranks
  std::vector<std::string> command;  ///< empty: nothing is executed, the ranks run already
  std::string program;               ///< what they run then, for lists of jobs
  bool tag_output = false;           ///< begin each line with "[rank] "
  OutputTerminals terminals;         ///< of the launcher's output, which the user watches
  bool shares_terminal = true;       ///< true if rank 0 may read the launcher's terminal
  /// The launcher's process group, which rank 0 joins if their input is the terminal; 0: it does
  /// not.
  pid_t terminal_group = 0;
  Bind bind = Bind::none;  ///< the binding of the ranks
  bool verbose = false;
  std::optional<double> time_limit;  ///< seconds until the job is ended with status 124
  double exit_timeout = 0;  ///< seconds that a rank at its end waits for others; 0: for ever
  double exit_grace = 0;    ///< seconds that other ranks have after a rank's gasnet_exit
  HangOptions hang;         ///< of the host that decides: gexrun's, or rank 0's
  /// The connection to the root of a job of several hosts; -1 with one host.
  int root = -1;
  LinkKeys root_keys;  ///< of that connection
  /// The socket to which this host's ranks connect if a foreign launcher has started them; -1: this
  /// process starts them.
  int adopts = -1;
  int launcher = 0;  ///< process id of the foreign launcher; 0: unknown
  /// Seconds within which such ranks must connect. They do as soon as they have the address, which
  /// all of them get at the same time.
  double join_limit = 30;

  const job::HostPart& part() const { return hosts[host]; }
  /// "PROGRAM, 4 ranks", for lists of jobs.
  std::string describe() const {
    return (command.empty() ? program : command.front()) + ", " + std::to_string(hosts.ranks()) +
           " ranks";
  }
};

}  // namespace gex::launch
