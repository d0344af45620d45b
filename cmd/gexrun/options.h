#pragma once
// The command line of gexrun.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gexrun {

enum class Debugger { none, gdb, valgrind };

struct Options {
  std::uint32_t ranks = 0;
  std::string conduit;                                         ///< empty: not given
  std::vector<std::pair<std::string, std::string>> variables;  ///< to be set for the ranks
  bool tag_output = false;
  bool bind_cores = false;
  std::optional<double> time_limit;
  Debugger debugger = Debugger::none;
  bool verbose = false;
  std::vector<std::string> command;
};

/// What came of reading the command line: options, or a text to print and a status to exit with.
struct Reading {
  Options options;
  std::string message;  ///< not empty: print this, on standard error when the status is not 0
  int status = 0;
};

/// Reads the command line; never prints and never exits.
Reading read_command_line(int count, char** arguments);

}  // namespace gexrun
