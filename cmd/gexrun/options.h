#pragma once
// The command line of gexrun.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../command_line.h"
#include "launch/bind.h"
#include "launch/hang/hang_options.h"
#include "launch/map/host_slots.h"

namespace gexrun {

enum class Debugger { none, gdb, valgrind };

struct Options {
  std::uint32_t ranks = 0;
  std::vector<gex::launch::HostSlots> hosts;  ///< empty: not given
  gex::launch::Map map = gex::launch::Map::block;
  std::vector<std::string> rsh;  ///< empty: not given
  std::string prefix;            ///< of libgex on the other hosts; empty: as on this host
  std::string conduit;           ///< empty: not given
  std::vector<std::pair<std::string, std::string>> variables;  ///< to be set for the ranks
  std::string trace;                                           ///< file, absolute; empty: none
  bool tag_output = false;
  std::optional<gex::launch::Bind> bind;  ///< empty: by GEX_BIND
  std::optional<double> time_limit;
  std::optional<double> hang_after;  ///< empty: by GEX_HANG_AFTER; the others likewise
  std::optional<gex::launch::HangOptions::Action> hang_action;
  std::optional<std::string> hang_report;
  bool report = false;  ///< report of a running job: all other options but `json` are void
  std::optional<pid_t> reported_job;  ///< empty: list the jobs
  bool json = false;
  Debugger debugger = Debugger::none;
  bool verbose = false;
  std::vector<std::string> command;
};

using Reading = gex::cmd::Reading<Options>;

/// Reads the command line; never prints and never exits.
Reading read_command_line(int count, char** arguments);

}  // namespace gexrun
