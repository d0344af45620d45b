#include "launch/report.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/os_file.h"

namespace gex::launch {

namespace {

/// How long `write_stderr` waits for a reader that does not read.
constexpr int write_timeout_ms = 300;

}  // namespace

std::string describe_signal(int signal) {
  const char* const text = sigdescr_np(signal);
  return "signal " + std::to_string(signal) + " (" + (text != nullptr ? text : "unknown") + ")";
}

void write_stderr(std::string_view text) {
  struct stat file {};
  if (fstat(STDERR_FILENO, &file) != 0) return;
  // A write to a pipe or a terminal can block for ever. Open it anew, to make it non-blocking for
  // this process only. Not so a file, where a new descriptor would write at another offset.
  os::FileDescriptor own;
  if (S_ISFIFO(file.st_mode) || S_ISCHR(file.st_mode))
    own.reset(open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const int descriptor = own ? own.get() : STDERR_FILENO;
  for (;;) {
    // One write, so that lines of several processes do not mix. Ignore a closed standard error.
    const ssize_t written = S_ISSOCK(file.st_mode)
                                ? send(descriptor, text.data(), text.size(), MSG_DONTWAIT)
                                : write(descriptor, text.data(), text.size());
    if (written >= 0 || (errno != EINTR && errno != EAGAIN)) return;
    pollfd writable{descriptor, POLLOUT, 0};
    if (errno == EAGAIN && poll(&writable, 1, write_timeout_ms) == 0) return;
  }
}

void report(const char* program, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  write_stderr(std::string(program) + ": " + text + "\n");
}

}  // namespace gex::launch
