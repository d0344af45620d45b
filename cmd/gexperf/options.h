#pragma once
// The command line of gexperf.

#include <string>
#include <vector>

#include "../command_line.h"
#include "measure.h"

namespace gexperf {

struct Options {
  Plan plan;
  std::vector<std::string> groups;  ///< words that name rows; empty: all that are usual
  bool is_busy = false;             ///< they are `busy` and networks
  bool json = false;
  bool list = false;
  bool hardware_threads = false;
};

using Reading = gex::cmd::Reading<Options>;
Reading read_command_line(int count, char** arguments);

}  // namespace gexperf
