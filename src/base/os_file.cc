#include "base/os_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/os_process.h"

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

std::uint64_t file_limit() noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

std::uint64_t raise_file_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
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

std::optional<std::string> read_file(const std::string& path) {
  constexpr std::size_t max_size = std::size_t{16} << 20;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return std::nullopt;
  std::string text;
  char piece[16384];
  for (;;) {
    const ssize_t got = read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > max_size) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
}

int replace_file(const std::string& path, std::string_view content) {
  const std::string unfinished = path + "." + std::to_string(::getpid());
  int error = 0;
  {
    const FileDescriptor file(
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    error = file ? write_fully(file.get(), content.data(), content.size()) : errno;
    // Some file systems report a full disk no earlier.
    if (error == 0 && ::fsync(file.get()) != 0 && errno != EINVAL) error = errno;
    if (!file) return error;
  }
  if (error == 0 && ::rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(unfinished.c_str());
  return error;
}

}  // namespace gex::os
