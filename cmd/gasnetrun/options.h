#pragma once
// The command lines of the launchers that software written for GASNet calls.

#include <cstdint>
#include <string>
#include <vector>

#include "../command_line.h"

namespace gasnetrun {

struct Options {
  std::string ranks;
  std::vector<std::string> variables;  ///< lists as gexrun's -E takes them
  bool verbose = false;
  bool only_print = false;
  std::vector<std::string> command;
};

using Reading = gex::cmd::Reading<Options>;

/// The network that a launcher's name names ("ofi" for gasnetrun_ofi), or empty.
std::string network_of(const std::string& launcher);

/// Reads the command line of `launcher`, which is amudprun, gasnetrun or gasnetrun_<network>. What
/// the variables GASNET_<NETWORK>_SPAWNER and GASNET_SPAWNFN ask for counts like the option that it
/// stands for. Never prints and never exits.
Reading read_command_line(const std::string& launcher, int count, char** arguments);

}  // namespace gasnetrun
