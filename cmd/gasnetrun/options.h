#pragma once
// The command lines of the launchers that software written for GASNet calls.

#include <cstdint>
#include <string>
#include <vector>

#include "../command_line.h"

namespace gasnetrun {

struct Options {
  std::uint32_t ranks = 0;
  std::string hosts;                   ///< argument of gexrun's --hosts; empty: this machine
  std::string rsh;                     ///< argument of gexrun's --rsh; empty: its default
  std::vector<std::string> variables;  ///< arguments of gexrun's -E
  bool verbose = false;
  bool only_print = false;
  std::vector<std::string> command;
};

using Reading = gex::cmd::Reading<Options>;

/// The network in a launcher's name ("ofi" for gasnetrun_ofi), or empty.
std::string network_of(const std::string& launcher);

/// Reads the command line of `launcher`, which is amudprun, gasnetrun or gasnetrun_<network>. The
/// variables GASNET_<NETWORK>_SPAWNER, GASNET_SPAWNER and GASNET_SPAWNFN are defaults of -spawner
/// and -spawn; hosts.h reads the variables that name hosts. Never prints and never exits.
Reading read_command_line(const std::string& launcher, int count, char** arguments);

}  // namespace gasnetrun
