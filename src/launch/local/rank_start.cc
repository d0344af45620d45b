#include "launch/local/rank_start.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/env.h"
#include "base/os_task_limits.h"
#include "launch/pseudo_terminal.h"
#include "launch/report.h"

namespace gex::launch {

RankStart::RankStart(LocalJob& job, LocalProcesses& processes, ControlServer& control,
                     LineRelay& relay, Inheritance inherited, std::size_t spare_descriptors)
    : job_(job),
      processes_(processes),
      control_(control),
      relay_(relay),
      inherited_(std::move(inherited)),
      binding_(job.launch.bind, job.part.ranks.size(),
               job.launch.command.empty() ? "" : job.launch.command.front(), spare_descriptors) {
  report_binding();
}

void RankStart::report_binding() {
  const Launch& launch = job_.launch;
  // The ranks refuse a malformed value.
  const std::string verbose = env::value(env::Variable::verbose).value_or("0");
  if (launch.verbose || env::parse_boolean(verbose).value_or(false)) {
    report(launch.program_name, "%s", binding_.describe(job_.part.ranks, job_.part.name).c_str());
  }
}

/// Makes the rank's side of a stream that is relayed: a terminal where the user watches a terminal.
os::FileDescriptor RankStart::open_output(std::uint32_t rank, LineRelay::Stream stream,
                                          bool terminal) {
  if (terminal) {
    if (auto made = open_pseudo_terminal(job_.launch.terminals)) {
      relay_.add(rank, stream, std::move(made->reader));
      return std::move(made->writer);
    }
  }
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return {};
  relay_.add(rank, stream, os::FileDescriptor(pipes[0]));
  return os::FileDescriptor(pipes[1]);
}

std::optional<job::Membership> RankStart::start(std::uint32_t rank) {
  const Launch& launch = job_.launch;
  const auto fail = [&] {
    job_.fail_start("cannot start rank " + std::to_string(rank) + " of " +
                    std::to_string(launch.hosts.ranks()) + ": " + os::describe_task_error(errno));
  };
  Connection theirs;
  theirs.control = control_.open(rank);
  if (!theirs.control) fail();
  if (!launch.command.empty()) {
    const OutputTerminals& terminals = launch.terminals;
    theirs.output = open_output(rank, LineRelay::output, terminals.output);
    // What a rank writes to both stays in order.
    if (theirs.output && terminals.same && isatty(theirs.output.get()) != 0)
      theirs.error = theirs.output.duplicate();
    else if (theirs.output)
      theirs.error = open_output(rank, LineRelay::error, terminals.error);
    if (!theirs.output || !theirs.error) fail();
  }
  const pid_t process = fork();
  if (process < 0) fail();
  if (process == 0) {
    return become_rank(launch, rank, inherited_, std::move(theirs),
                       binding_.cores_of(job_.index_of(rank)));
  }
  // Here and in the child: the group must exist whichever of the two runs first.
  const bool on_terminal = rank == 0 && launch.terminal_group != 0;
  setpgid(process, on_terminal ? launch.terminal_group : process);
  processes_.started(rank, process);
  if (launch.verbose) {
    report(launch.program_name, "rank %u is pid %d on %s", rank, process, job_.part.name.c_str());
  }
  return std::nullopt;
}

}  // namespace gex::launch
