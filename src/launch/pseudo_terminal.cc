#include "launch/pseudo_terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <utility>

namespace gex::launch {

namespace {

/// Opens the terminal itself, which a file system that is mounted elsewhere does not show.
os::FileDescriptor open_writer(int reader) noexcept {
  constexpr int flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
#ifdef TIOCGPTPEER
  if (const int peer = ioctl(reader, TIOCGPTPEER, flags); peer >= 0)
    return os::FileDescriptor(peer);
#endif
  char path[64];
  if (ptsname_r(reader, path, sizeof path) != 0) return {};
  return os::FileDescriptor(open(path, flags));
}

}  // namespace

std::optional<PseudoTerminal> open_pseudo_terminal(const OutputTerminals& size) noexcept {
  PseudoTerminal made;
  made.reader.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.reader || grantpt(made.reader.get()) != 0 || unlockpt(made.reader.get()) != 0)
    return std::nullopt;
  made.writer = open_writer(made.reader.get());
  termios settings{};
  if (!made.writer || tcgetattr(made.writer.get(), &settings) != 0) return std::nullopt;
  // The user's own terminal makes "\r\n" of "\n".
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (tcsetattr(made.writer.get(), TCSANOW, &settings) != 0) return std::nullopt;
  if (size.rows != 0) {
    winsize window{};
    window.ws_row = size.rows;
    window.ws_col = size.columns;
    ioctl(made.writer.get(), TIOCSWINSZ, &window);
  }
  return made;
}

}  // namespace gex::launch
