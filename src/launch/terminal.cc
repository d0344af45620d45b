#include "launch/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cerrno>

#include "base/os_file.h"

namespace gex::launch {

void leave_terminal() noexcept {
  const os::FileDescriptor terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  const bool left = terminal ? ioctl(terminal.get(), TIOCNOTTY) == 0 : errno == ENXIO;
  // Opening the terminal again may fail.
  if (!left && setsid() >= 0) return;
  setpgid(0, 0);
}

}  // namespace gex::launch
