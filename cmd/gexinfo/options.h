#pragma once
// The command line of gexinfo.

#include <string>

namespace gexinfo {

struct Options {
  bool environment = false;
  bool json = false;
};

/// What came of reading the command line: options, or a text to print and a status to exit with.
struct Reading {
  Options options;
  std::string message;  ///< not empty: print this, on standard error when the status is not 0
  int status = 0;
};

/// Reads the command line; never prints and never exits.
Reading read_command_line(int count, char** arguments);

}  // namespace gexinfo
