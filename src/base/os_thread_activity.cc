#include "base/os_thread_activity.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace gex::os {

namespace {

std::string path_of(pid_t process, pid_t thread, const char* file) {
  return "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/" + file;
}

struct Named {
  long number;
  const char* name;
};
/// Threads sleep in these system calls. Not every architecture has all.
constexpr Named calls[] = {
    {SYS_accept4, "accept4"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_connect, "connect"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_fcntl, "fcntl"},
    {SYS_flock, "flock"},
    {SYS_fsync, "fsync"},
    {SYS_futex, "futex"},
    {SYS_ioctl, "ioctl"},
    {SYS_msgrcv, "msgrcv"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_openat, "openat"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_read, "read"},
    {SYS_readv, "readv"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_sendto, "sendto"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
#ifdef SYS_accept
    {SYS_accept, "accept"},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait"},
#endif
#ifdef SYS_pause
    {SYS_pause, "pause"},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll"},
#endif
#ifdef SYS_select
    {SYS_select, "select"},
#endif
};

/// Returns true if the descriptor of that process is a pipe or a terminal. A socket may have a time
/// limit, with which its calls are not restarted.
bool is_pipe_or_terminal(pid_t process, std::uint64_t descriptor) {
  const std::string link = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  char target[64];
  const ssize_t size = readlink(link.c_str(), target, sizeof target);
  const std::string_view name(target, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return name.starts_with("pipe:[") || name.starts_with("/dev/");
}

/// Returns true if the kernel restarts the call after a handler installed with SA_RESTART;
/// signal(7).
bool is_restarted(pid_t process, const SystemCall& call) {
  switch (call.number) {
    case SYS_wait4:
    case SYS_waitid:
    case SYS_flock:
      return true;
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
      return is_pipe_or_terminal(process, call.arguments[0]);
    case SYS_futex: {
      const std::uint64_t operation = call.arguments[1] & FUTEX_CMD_MASK;
      const bool has_time_limit = call.arguments[3] != 0;
      return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && !has_time_limit;
    }
    default:
      return false;
  }
}

/// "NUMBER ARGUMENT... SP PC", "-1 SP PC" or "running".
std::optional<SystemCall> parse_call(const std::string& line) {
  const char* at = line.c_str();
  char* end = nullptr;
  SystemCall call;
  call.number = std::strtol(at, &end, 10);
  if (end == at || call.number < 0) return std::nullopt;
  for (std::uint64_t& argument : call.arguments) {
    at = end;
    argument = std::strtoull(at, &end, 16);
    if (end == at) return std::nullopt;
  }
  return call;
}

}  // namespace

std::optional<ThreadActivity> thread_activity(pid_t process, pid_t thread) {
  std::string line;
  std::ifstream stat(path_of(process, thread, "stat"));
  // The name, in parentheses, may hold anything.
  const bool read = static_cast<bool>(std::getline(stat, line, '\0'));
  const std::size_t after_name = line.rfind(')');
  if (!read || after_name == std::string::npos || after_name + 2 >= line.size())
    return std::nullopt;
  ThreadActivity activity;
  activity.state = line[after_name + 2];
  if (activity.state == 'R') return activity;
  std::ifstream call(path_of(process, thread, "syscall"));
  if (std::getline(call, line)) activity.call = parse_call(line);
  return activity;
}

bool bears_signals(pid_t process, const ThreadActivity& activity) {
  if (activity.state == 'R') return true;
  return activity.state == 'S' && activity.call && is_restarted(process, *activity.call);
}

std::string name_of(const SystemCall& call) {
  const auto* const found = std::find_if(std::begin(calls), std::end(calls), [&](const Named& one) {
    return one.number == call.number;
  });
  return found != std::end(calls) ? found->name : "system call " + std::to_string(call.number);
}

}  // namespace gex::os
