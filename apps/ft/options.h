#pragma once
// The command line, apart from how ranks are started.

#include <cstddef>
#include <string>
#include <vector>

namespace ft {

struct Options {
  std::string problem;
  std::string variant;    ///< All if empty.
  std::string reference;  ///< The embedded classes if empty.
  int iterations = 0;     ///< As many as published if 0.
  std::size_t padding = 4;
  bool ranks_info = false;
  bool json = false;
};

/// The options, or a text to print in their place: the help, or why they are refused.
struct ParsedOptions {
  Options options;
  std::string help;
  std::string error;
};
ParsedOptions parse_options(int argc, char** argv, const char* program, const char* library,
                            const std::vector<std::string>& variants);

}  // namespace ft
