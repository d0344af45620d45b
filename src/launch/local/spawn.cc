#include "launch/local/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/os_cpu.h"
#include "base/os_file.h"
#include "job/rank_variables.h"
#include "launch/local/execution.h"
#include "launch/terminal.h"

namespace gex::launch {

namespace {

/// Duplicates the descriptor to a number that shell scripts do not redirect, or, if the limit does
/// not allow that, to any number above standard error.
int clear_of_redirections(int descriptor, bool survives_exec) {
  const int command = survives_exec ? F_DUPFD : F_DUPFD_CLOEXEC;
  int moved = fcntl(descriptor, command, job::lowest_control_descriptor);
  if (moved < 0) moved = fcntl(descriptor, command, STDERR_FILENO + 1);
  return moved;
}

/// Python and gfortran programs write their output to a pipe in blocks too, which are lost when the
/// rank is killed. Programs in C are made to write lines by libgex (job/line_output.h).
void write_lines_to_pipes() {
  setenv("PYTHONUNBUFFERED", "1", 0);
  setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "y", 0);
}

[[noreturn]] void fail(int control, int error, job::StartStep step) {
  job::FrameHeader failure;
  failure.kind = job::FrameKind::exec_failed;
  failure.code = error;
  failure.count = static_cast<std::uint32_t>(step);
  job::send_frame(control, failure, {}, -1, /*wait=*/true);
  _exit(exec_failure_status(error));
}

}  // namespace

int exec_failure_status(int error) noexcept {
  return error == ENOENT ? 127 : 126;
}

job::Membership become_rank(const Launch& launch, std::uint32_t rank,
                            const Inheritance& inheritance, Connection connection,
                            std::span<const std::uint32_t> cores) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The guardian may have been killed before prctl.
  if (getppid() != inheritance.guardian) _exit(1);
  if (launch.terminal_group == 0)
    setpgid(0, 0);
  else if (rank == 0)
    setpgid(0, launch.terminal_group);
  else
    leave_terminal();
  const bool executes = !launch.command.empty();
  job::Membership membership;
  membership.rank = rank;
  membership.size = launch.hosts.ranks();
  membership.control = clear_of_redirections(connection.control.get(), executes);
  if (membership.control < 0) {
    fail(connection.control.get(), errno, job::StartStep::keep_connection);
  }
  if (rank != 0) {
    const os::FileDescriptor nothing = os::open_empty_input();
    if (!nothing || dup2(nothing.get(), STDIN_FILENO) < 0)
      fail(membership.control, errno, job::StartStep::redirect_input);
  }
  if ((connection.output && dup2(connection.output.get(), STDOUT_FILENO) < 0) ||
      (connection.error && dup2(connection.error.get(), STDERR_FILENO) < 0)) {
    fail(membership.control, errno, job::StartStep::redirect_output);
  }
  // Binding fails if a processor has been taken offline. The rank is not bound then.
  if (!cores.empty()) os::bind_to_cores(cores);
  setrlimit(RLIMIT_NOFILE, &inheritance.descriptors);

  if (!executes) {
    prctl(PR_SET_NAME, inheritance.process_name.c_str());
    restore_signals(inheritance.signals);
    return membership;
  }
  setenv("GEX_JOB", job::format_membership(membership).c_str(), 1);
  const job::RankSet& here = launch.part().ranks;
  job::set_rank_variables({rank, membership.size, here.index_of(rank), here.size()});
  if (isatty(STDOUT_FILENO) == 0) write_lines_to_pipes();
  std::vector<char*> arguments;
  for (const std::string& argument : launch.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  restore_signals(inheritance.signals);
  // Launchers handle SIGINT even if it was ignored (signals_to_handle), so ranks do not ignore it.
  signal(SIGINT, SIG_DFL);
  fail(membership.control, execute(arguments.data()), job::StartStep::execute);
}

}  // namespace gex::launch
