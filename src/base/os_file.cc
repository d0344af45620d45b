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

std::uint64_t file_size(int descriptor) noexcept {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace gex::os
