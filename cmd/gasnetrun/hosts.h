#pragma once
// The hosts that the environment names for a job, and how they are reached, in the variables that
// GASNet's spawners over ssh read.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gasnetrun {

struct NamedHosts {
  std::string variable;            ///< that names them; empty: none does
  std::vector<std::string> names;  ///< in their order, each as often as it is named
  std::string mistake;             ///< not empty: why they cannot be read
};

/// The hosts of GASNET_SSH_NODEFILE (a file with a host on each line; what follows a blank or '#'
/// is not read), GASNET_SSH_SERVERS, SSH_SERVERS (lists with blanks or commas) or GASNET_NODEFILE,
/// the first that is set.
NamedHosts named_hosts();

/// Each name once, in the order of their first places.
std::vector<std::string> without_repetitions(const std::vector<std::string>& names);

/// gexrun's --hosts for `ranks` ranks in blocks as even as can be; of uneven ones the first are the
/// larger. Requires at least one node, and no more than ranks.
std::string blocks(std::span<const std::string> nodes, std::uint32_t ranks);

/// gexrun's --rsh as GASNET_SSH_CMD and GASNET_SSH_OPTIONS, or the same without GASNET_, ask for;
/// empty: they do not.
std::string remote_shell();

}  // namespace gasnetrun
