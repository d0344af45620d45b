#pragma once
// Measuring programs with two ends, a server and a client that connects with it.

#include <string>

#include "child.h"

namespace gexperf {

/// The commands of the two ends, each started by what puts it on its processor or its host:
/// "taskset -c 1", "ssh node7".
struct TwoEnds {
  std::string on_server;
  std::string on_client;
  std::string server;
  std::string client;
};

/// Runs both to their ends; the output is the client's. The client is started again until its
/// server is there.
Finished run_two_ends(const TwoEnds& ends);

/// A port of TCP that another gexperf of this machine hardly takes at the same time.
std::string port_of_two_ends();

/// Returns true if a program is in a folder of PATH.
bool is_in_path(const char* program);

}  // namespace gexperf
