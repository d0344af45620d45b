#pragma once
// Programs that gexperf runs, one at a time, and what of processor time they used.
//
// A child leads a process group of its own, so that an interrupt from the terminal reaches it once,
// through us. It is sent SIGTERM when gexperf dies.

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace gexperf {

/// How a child ended.
struct Finished {
  bool succeeded = false;
  std::string trouble;      ///< why not: "exit status 3", "signal 9", "cannot execute ..."
  std::string output;       ///< what it wrote to standard output
  double processor_ns = 0;  ///< of the child and of the descendants that were waited for
};

/// Runs a program to its end; its standard input is empty, standard error is ours. If gexperf is
/// interrupted meanwhile, the child is, and when it has ended gexperf ends by the same signal.
Finished run(const std::vector<std::string>& command);

/// The number in a column, the first of which is 0, of the last line of what a program printed.
/// Blanks or commas part the columns.
bool parse_last_column(const std::string& output, int column, double& number);

/// Starts `count` copies of a program, all before waiting for the first, and waits for them all.
Finished run_together(const std::string& program, unsigned count);

/// Passes interrupts on from now on.
void pass_on_interrupts();

/// Nanoseconds of the monotonic clock.
double monotonic_ns();

}  // namespace gexperf
