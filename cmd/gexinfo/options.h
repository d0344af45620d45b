#pragma once
// The command line of gexinfo.

#include <string>

#include "../command_line.h"

namespace gexinfo {

struct Options {
  bool environment = false;
  bool json = false;
  bool pairs = false;
  bool matrix = false;  ///< of each pair; `pairs` is set then, too
};

using Reading = gex::cmd::Reading<Options>;

/// Reads the command line; never prints and never exits.
Reading read_command_line(int count, char** arguments);

}  // namespace gexinfo
