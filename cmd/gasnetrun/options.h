#pragma once
// The command lines of the launchers that software written for GASNet calls.

#include <cstdint>
#include <string>
#include <vector>

#include "../command_line.h"

namespace gasnetrun {

struct Options {
  std::uint32_t ranks = 0;
  std::string hosts;                   ///< as gexrun's --hosts takes them; empty: this machine
  std::string rsh;                     ///< as gexrun's --rsh takes it; empty: as it is there
  std::vector<std::string> variables;  ///< lists as gexrun's -E takes them
  bool verbose = false;
  bool only_print = false;
  std::vector<std::string> command;
};

using Reading = gex::cmd::Reading<Options>;

/// The network that a launcher's name names ("ofi" for gasnetrun_ofi), or empty.
std::string network_of(const std::string& launcher);

/// Reads the command line of `launcher`, which is amudprun, gasnetrun or gasnetrun_<network>. What
/// the variables GASNET_<NETWORK>_SPAWNER, GASNET_SPAWNER and GASNET_SPAWNFN ask for counts like
/// the option that it stands for; hosts.h has those that name hosts. Never prints and never exits.
Reading read_command_line(const std::string& launcher, int count, char** arguments);

}  // namespace gasnetrun
