#include "launch/terminal.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

namespace gex::launch {
namespace {

bool has_terminal() {
  const int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return false;
  close(terminal);
  return true;
}

int status_of(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Runs `body` in a session leader on a terminal of its own, and returns its exit status.
template <class Body>
int on_a_terminal(Body body) {
  int terminal = -1;
  const pid_t leader = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (leader == 0) {
    if (!has_terminal()) _exit(100);
    _exit(body());
  }
  const int status = status_of(leader);
  close(terminal);
  return status;
}

TEST(LeaveTerminal, LeavesItAndTheGroupButNotTheSession) {
  EXPECT_EQ(on_a_terminal([] {
              const pid_t session = getsid(0);
              const pid_t child = fork();
              if (child == 0) {
                leave_terminal();
                if (has_terminal()) _exit(1);
                if (errno != ENXIO) _exit(2);
                if (getpgrp() != getpid()) _exit(3);
                if (getsid(0) != session) _exit(4);
                // Processes that are started from now on do not have the terminal either. Open
                // descriptors remain writable.
                const pid_t grandchild = fork();
                if (grandchild == 0) _exit(has_terminal() ? 1 : 0);
                if (status_of(grandchild) != 0) _exit(5);
                _exit(write(STDOUT_FILENO, "x", 1) == 1 ? 0 : 6);
              }
              const int status = status_of(child);
              if (status != 0) return status;
              return has_terminal() ? 0 : 7;
            }),
            0);
}

TEST(LeaveTerminal, WhoHasNoneOnlyLeavesTheGroup) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    const pid_t session = getpid();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      leave_terminal();
      _exit(getpgrp() == getpid() && getsid(0) == session && !has_terminal() ? 0 : 1);
    }
    _exit(status_of(grandchild));
  }
  EXPECT_EQ(status_of(child), 0);
}

// A terminal in exclusive mode, as left by screen lockers and modem programs; root can still open
// it.
TEST(LeaveTerminal, LeavesOneThatCannotBeOpened) {
  EXPECT_EQ(on_a_terminal([] {
              if (ioctl(STDIN_FILENO, TIOCEXCL) != 0) return 101;
              const pid_t child = fork();
              if (child == 0) {
                if (setuid(65534) != 0 && getuid() == 0) _exit(1);
                if (has_terminal() || errno != EBUSY) _exit(2);
                leave_terminal();
                if (has_terminal() || errno != ENXIO) _exit(3);
                _exit(getpgrp() == getpid() ? 0 : 4);
              }
              return status_of(child);
            }),
            0);
}

}  // namespace
}  // namespace gex::launch
