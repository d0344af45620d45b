#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/os_file.h"

namespace gexperf {

namespace {

constexpr unsigned max_children = 1024;
constexpr int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int cannot_execute = 127;

/// The children of now, for the signal handler; 0: none.
std::atomic<pid_t> children[max_children];
std::atomic<int> interrupted_by{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void on_interrupt(int signal) {
  interrupted_by = signal;
  const int error = errno;
  for (const auto& child : children) {
    const pid_t process = child;
    if (process != 0) kill(process, signal);
  }
  errno = error;
}

sigset_t interrupt_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : interrupts) sigaddset(&set, signal);
  return set;
}

/// Ends gexperf as the signal would have, had it not been passed on.
void end_if_interrupted() {
  const int signal = interrupted_by;
  if (signal == 0) return;
  ::signal(signal, SIG_DFL);
  raise(signal);
}

[[noreturn]] void become(const std::vector<std::string>& command, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(cannot_execute);
  const gex::os::FileDescriptor nothing = gex::os::open_empty_input();
  if (nothing) dup2(nothing.get(), STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  for (const int signal : interrupts) ::signal(signal, SIG_DFL);
  const sigset_t set = interrupt_set();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  execvp(arguments[0], arguments.data());
  _exit(cannot_execute);
}

/// Starts a child in slot `slot`; its standard output is `output`, or ours if that is negative. 0:
/// there is no child, and errno is the reason.
pid_t start(const std::vector<std::string>& command, int output, unsigned slot) {
  const pid_t parent = getpid();
  const sigset_t set = interrupt_set();
  // No interrupt between the fork and the moment the handler has the child.
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    become(command, output, parent);
  }
  if (process > 0) children[slot] = process;
  const int error = errno;
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  errno = error;
  return process > 0 ? process : 0;
}

/// Waits for the child of a slot.
Finished finish(pid_t process, unsigned slot) {
  Finished result;
  // Left unreaped until the handler no longer names it: its number cannot become another's.
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  children[slot] = 0;
  int status = 0;
  rusage usage{};
  while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  result.processor_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
  result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status))
    result.trouble = "signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    result.trouble = "exit status " + std::to_string(WEXITSTATUS(status));
  return result;
}

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

Finished could_not(const std::string& what) {
  Finished result;
  result.trouble = "cannot " + what + ": " + std::strerror(errno);
  return result;
}

}  // namespace

Finished run(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return could_not("make a pipe");
  const pid_t process = start(command, ends[1], 0);
  const int error = errno;
  close(ends[1]);
  if (process == 0) {
    close(ends[0]);
    errno = error;
    return could_not("start a process");
  }
  std::string output = read_all(ends[0]);
  close(ends[0]);
  Finished result = finish(process, 0);
  result.output = std::move(output);
  end_if_interrupted();
  return result;
}

bool parse_last_column(const std::string& output, int column, double& number) {
  std::string last;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  std::replace(last.begin(), last.end(), ',', ' ');
  std::istringstream columns(last);
  std::string skipped;
  for (int i = 0; i < column; ++i) columns >> skipped;
  return static_cast<bool>(columns >> number);
}

Finished run_together(const std::string& program, unsigned count) {
  pid_t processes[max_children] = {};
  Finished all;
  all.succeeded = count <= max_children;
  if (!all.succeeded) {
    all.trouble = "more processes than gexperf keeps track of";
    return all;
  }
  for (unsigned i = 0; i < count; ++i) {
    processes[i] = start({program}, -1, i);
    if (processes[i] == 0) all = could_not("start a process");
  }
  for (unsigned i = 0; i < count; ++i) {
    if (processes[i] == 0) continue;
    const Finished one = finish(processes[i], i);
    all.processor_ns += one.processor_ns;
    if (!one.succeeded && all.succeeded) {
      all.succeeded = false;
      all.trouble = one.trouble;
    }
  }
  end_if_interrupted();
  return all;
}

void pass_on_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (const int signal : interrupts) sigaction(signal, &action, nullptr);
}

double monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace gexperf
