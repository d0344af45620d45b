// without_call ERROR CALL COMMAND [ARGS]: runs a command to which the system denies a call with an
// error number, as the filters of containers do. CALL is memfd_create, epoll_wait, or thread: the
// making of threads, but not of processes.

#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr sock_filter step(unsigned code, unsigned operand, unsigned char if_true = 0,
                           unsigned char if_false = 0) {
  return {static_cast<unsigned short>(code), if_true, if_false, operand};
}

constexpr sock_filter load(std::size_t offset) {
  return step(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}

constexpr unsigned allow = SECCOMP_RET_ALLOW;

template <std::size_t count>
bool install(const sock_filter (&program)[count]) {
  sock_fprog whole = {static_cast<unsigned short>(count), const_cast<sock_filter*>(program)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

#ifdef SYS_epoll_wait
constexpr unsigned wait_for_events = SYS_epoll_wait;
#else
constexpr unsigned wait_for_events = SYS_epoll_pwait;
#endif

bool deny(unsigned call, unsigned error) {
  return install({load(offsetof(seccomp_data, nr)), step(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                  step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), step(BPF_RET | BPF_K, allow)});
}

/// clone3 has its flags in memory, where a filter cannot look: without it the C library takes
/// clone.
bool deny_threads(unsigned error) {
  return install(
      {load(offsetof(seccomp_data, nr)), step(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
       step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
       step(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0), step(BPF_RET | BPF_K, allow),
       load(offsetof(seccomp_data, args[0])), step(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
       step(BPF_RET | BPF_K, allow), step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error)});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 90;
  const auto error = static_cast<unsigned>(std::atoi(argv[1]));
  const std::string_view call = argv[2];
  const bool denied = call == "thread"       ? deny_threads(error)
                      : call == "epoll_wait" ? deny(wait_for_events, error)
                                             : deny(SYS_memfd_create, error);
  if (!denied) {
    std::perror("without_call");
    return 91;
  }
  execvp(argv[3], argv + 3);
  std::perror(argv[3]);
  return 127;
}
