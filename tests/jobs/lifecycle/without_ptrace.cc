// without_ptrace COMMAND [ARGS]: runs a command that may neither trace other processes nor reach
// into their memory or descriptors, as in a container without the capability.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <iterator>

namespace {

constexpr sock_filter step(unsigned code, unsigned operand, unsigned char if_true = 0,
                           unsigned char if_false = 0) {
  return {static_cast<unsigned short>(code), if_true, if_false, operand};
}

bool forbid() {
  constexpr unsigned refuse = SECCOMP_RET_ERRNO | EPERM;
  sock_filter program[] = {
      step(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      step(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 4),
      step(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 3),
      step(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 2),
      step(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 1),
      step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      step(BPF_RET | BPF_K, refuse),
  };
  const sock_fprog whole = {static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || !forbid()) {
    std::perror("without_ptrace");
    return 90;
  }
  // The test means nothing if tracing still works.
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 || errno != EPERM) {
    std::fputs("without_ptrace: tracing is still allowed\n", stderr);
    return 91;
  }
  execvp(argv[1], argv + 1);
  std::perror(argv[1]);
  return 127;
}
