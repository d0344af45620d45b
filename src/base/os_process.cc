#include "base/os_process.h"

#include <link.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

namespace gex::os {

int write_fully(int descriptor, const char* bytes, std::size_t count) noexcept {
  while (count > 0) {
    const ssize_t written = ::write(descriptor, bytes, count);
    if (written >= 0) {
      bytes += written;
      count -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd full{descriptor, POLLOUT, 0};
      if (::poll(&full, 1, 1000) == 0) return EAGAIN;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int process_id() noexcept {
  return static_cast<int>(::getpid());
}

std::uint64_t process_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The second field is the name, in parentheses, and may hold anything.
  const std::size_t after_name = line.rfind(')');
  if (after_name == line.npos) return 0;
  std::istringstream fields(line.substr(after_name + 1));
  constexpr int start_field = 22;
  std::string skipped;
  for (int field = 3; field < start_field; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

int thread_id() noexcept {
  return static_cast<int>(::gettid());
}

bool is_linked_static() noexcept {
  // The program is the first object, and names its loader if it has one.
  const auto has_loader = [](dl_phdr_info* program, std::size_t, void*) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
      if (program->dlpi_phdr[i].p_type == PT_INTERP) return 2;
    return 1;
  };
  return ::dl_iterate_phdr(has_loader, nullptr) == 1;
}

void exit_at_once(int code) noexcept {
  ::_exit(code);
}

}  // namespace gex::os
