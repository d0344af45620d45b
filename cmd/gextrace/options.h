#pragma once
// The command line of gextrace.

#include <string>
#include <vector>

#include "../command_line.h"
#include "filter.h"

namespace gextrace {

enum class SummaryForm { none, text, json };

struct Options {
  SummaryForm summary = SummaryForm::none;
  std::string perfetto;  ///< file to write; "-": standard output; empty: none
  std::string picture;
  Filter filter;
  std::vector<std::string> files;
};

using Reading = gex::cmd::Reading<Options>;

/// Reads the command line; never prints and never exits.
Reading read_command_line(int count, char** arguments);

}  // namespace gextrace
