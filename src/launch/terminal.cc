#include "launch/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include "base/os_file.h"

namespace gex::launch {

OutputTerminals output_terminals() noexcept {
  OutputTerminals found;
  found.output = isatty(STDOUT_FILENO) != 0;
  found.error = isatty(STDERR_FILENO) != 0;
  struct stat output {};
  struct stat error {};
  found.same = found.output && found.error && fstat(STDOUT_FILENO, &output) == 0 &&
               fstat(STDERR_FILENO, &error) == 0 && output.st_dev == error.st_dev &&
               output.st_ino == error.st_ino;
  winsize window{};
  const int terminal = found.output ? STDOUT_FILENO : STDERR_FILENO;
  if ((found.output || found.error) && ioctl(terminal, TIOCGWINSZ, &window) == 0) {
    found.rows = window.ws_row;
    found.columns = window.ws_col;
  }
  return found;
}

pid_t group_on_terminal() noexcept {
  // Only of the controlling terminal the kernel gives the group in the foreground.
  return isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) >= 0 ? getpgrp() : 0;
}

void leave_terminal() noexcept {
  if (ioctl(STDIN_FILENO, TIOCNOTTY) == 0) {
    setpgid(0, 0);
    return;
  }
  const os::FileDescriptor terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  const bool left = terminal ? ioctl(terminal.get(), TIOCNOTTY) == 0 : errno == ENXIO;
  // Opening the terminal again may fail.
  if (!left && setsid() >= 0) return;
  setpgid(0, 0);
}

}  // namespace gex::launch
