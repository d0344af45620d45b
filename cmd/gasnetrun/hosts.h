#pragma once
// The hosts of a job and the remote shell, from the environment variables that GASNet's ssh
// spawners read.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gasnetrun {

struct NamedHosts {
  std::string variable;            ///< the variable that names the hosts; empty if none does
  std::vector<std::string> names;  ///< in order, with repetitions
  std::string mistake;             ///< the error, if the hosts cannot be read
};

/// The hosts by the first of these variables that is set: GASNET_SSH_NODEFILE (a file with a host
/// on each line; the rest of a line after a blank or '#' is ignored), GASNET_SSH_SERVERS,
/// SSH_SERVERS (lists with blanks or commas), GASNET_NODEFILE (a file).
NamedHosts named_hosts();

/// Each name once, in the order of first occurrence.
std::vector<std::string> without_repetitions(const std::vector<std::string>& names);

/// The argument of gexrun's --hosts for `ranks` ranks in blocks of equal size, or, if they do not
/// divide evenly, with larger blocks first. Requires at least one node, and no more than ranks.
std::string blocks(std::span<const std::string> nodes, std::uint32_t ranks);

/// The argument of gexrun's --rsh by GASNET_SSH_CMD and GASNET_SSH_OPTIONS, or SSH_CMD and
/// SSH_OPTIONS; empty if none is set.
std::string remote_shell();

}  // namespace gasnetrun
