#include "boot/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/os_file.h"

namespace gex::boot {

void leave_terminal() noexcept {
  // Who leads a session was put there by somebody else, as sshd, and would take the terminal from
  // all of it.
  if (getsid(0) == getpid()) return;
  setpgid(0, 0);
  const os::FileDescriptor terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (terminal) ioctl(terminal.get(), TIOCNOTTY);
}

}  // namespace gex::boot
