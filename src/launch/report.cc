#include "launch/report.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/os_file.h"

namespace gex::launch {

namespace {

/// How long `write_stderr` waits for a reader that does not read.
constexpr int write_timeout_ms = 300;

// Relaxed throughout: a guess where two processes write at once.
std::atomic<bool> own_within_line{false};
std::atomic<bool>* within_line = &own_within_line;

}  // namespace

void set_within_line(bool within) noexcept {
  within_line->store(within, std::memory_order_relaxed);
}

bool is_within_line() noexcept {
  return within_line->load(std::memory_order_relaxed);
}

void share_within_line() noexcept {
  void* const page =
      mmap(nullptr, sizeof *within_line, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) within_line = new (page) std::atomic<bool>(is_within_line());
}

std::string describe_signal(int signal) {
  const char* const text = sigdescr_np(signal);
  return "signal " + std::to_string(signal) + " (" + (text != nullptr ? text : "unknown") + ")";
}

void write_stderr(std::string_view text) {
  if (!text.empty() && text.front() != '\r' && is_within_line() && isatty(STDERR_FILENO) != 0) {
    set_within_line(false);
    write_stderr('\n' + std::string(text));
    return;
  }
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
