#include "base/os_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace gex::os {

void FileDescriptor::reset(int descriptor) noexcept {
  const int owned = std::exchange(descriptor_, descriptor);
  if (owned < 0 || owned == descriptor) return;
  const int reason = errno;
  // Linux frees the descriptor whatever close answers, EINTR included: never close twice.
  static_cast<void>(::close(owned));
  errno = reason;
}

FileDescriptor FileDescriptor::duplicate() const noexcept {
  return FileDescriptor(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
}

FileDescriptor open_empty_input() noexcept {
  FileDescriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (file) return file;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  static_cast<void>(FileDescriptor(ends[1]));
  return FileDescriptor(ends[0]);
}

void fill_standard_descriptors() noexcept {
  for (;;) {
    // A write fails with the error it would have had.
    FileDescriptor empty = open_empty_input();
    if (!empty || empty.get() > STDERR_FILENO) return;
    fcntl(empty.release(), F_SETFD, 0);
  }
}

std::uint64_t file_size(int descriptor) noexcept {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace gex::os
