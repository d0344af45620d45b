#include "base/os_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/os_memory_limits.h"

namespace gex::os {
namespace {

/// Sets the size of an empty file. Sparse: no page is allocated.
int resize(int descriptor, std::uint64_t bytes) noexcept {
  const auto limit = file_size_limit();
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (bytes > largest || (limit && bytes > *limit)) return EFBIG;
  while (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// Bytes that can still be allocated in the file system of an open file.
std::uint64_t space_around(int descriptor) noexcept {
  struct statvfs system;
  if (::fstatvfs(descriptor, &system) != 0) return 0;
  // A tmpfs mounted without a limit reports no blocks at all.
  if (system.f_blocks == 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
}

FileDescriptor open_unlinked(const std::string& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  // A file system that cannot open without a name (overlay, nfs): the name lives for two calls.
  std::string path = folder + "/gex-XXXXXX";
  file.reset(::mkostemp(path.data(), O_CLOEXEC));
  if (file && ::unlink(path.c_str()) != 0) {
    const int reason = errno;
    file.reset();
    errno = reason;
  }
  return file;
}

MemoryFile failed(int error, std::string why) {
  MemoryFile none;
  none.why = std::move(why);
  errno = error;
  return none;
}

std::string reason(const std::string& way, int error) {
  return way + ": " + std::strerror(error);
}

/// The first of the folders' files for which `prepare(descriptor)` is 0. `why`: what failed before.
template <class Prepare>
MemoryFile first_unlinked_file(std::span<const std::string> folders, std::string why,
                               const Prepare& prepare) {
  int error = ENOENT;
  for (const std::string& folder : folders) {
    MemoryFile file{open_unlinked(folder), folder, 0, {}};
    error = file.descriptor ? prepare(file.descriptor.get()) : errno;
    if (error == 0) {
      file.space = space_around(file.descriptor.get());
      return file;
    }
    why += (why.empty() ? "" : "; ") + reason("a file in " + folder, error);
  }
  return failed(error, std::move(why));
}

/// Where there is no memfd.
std::vector<std::string> folders_of_memory() {
  std::vector<std::string> folders{"/dev/shm"};
  const std::string temporary = env::text(env::Variable::tmpdir);
  if (!temporary.empty()) folders.push_back(temporary);
  if (temporary != "/tmp") folders.emplace_back("/tmp");
  return folders;
}

/// Any kernel that has memfd_create has seals.
MemoryFile open_memory_file(const char* name) {
  return {FileDescriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)),
          "memfd",
          std::numeric_limits<std::uint64_t>::max(),
          {}};
}

}  // namespace

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::uint64_t round_up_to_page(std::uint64_t bytes) noexcept {
  const std::uint64_t page = page_size();
  return (bytes + page - 1) / page * page;
}

MemoryFile create_unlinked_file(std::span<const std::string> folders, std::uint64_t bytes) {
  return first_unlinked_file(folders, {}, [bytes](int file) { return resize(file, bytes); });
}

MemoryFile create_memory_file(const char* name, std::uint64_t bytes) {
  MemoryFile file = open_memory_file(name);
  const int error = file.descriptor ? resize(file.descriptor.get(), bytes) : errno;
  if (error == 0) return file;
  const std::string why = reason("memfd_create", error);
  if (error == EFBIG) return failed(error, why);  // no other file could be this large either
  return first_unlinked_file(folders_of_memory(), why,
                             [bytes](int other) { return resize(other, bytes); });
}

MemoryFile create_fixed_file(const char* name, std::uint64_t bytes) {
  MemoryFile file = open_memory_file(name);
  int error = file.descriptor ? resize(file.descriptor.get(), bytes) : errno;
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (error == 0 && ::fcntl(file.descriptor.get(), F_ADD_SEALS, seals) != 0) error = errno;
  if (error == 0) return file;
  return first_unlinked_file(folders_of_memory(), reason("memfd_create", error),
                             [bytes](int other) {
                               const int refused = resize(other, bytes);
                               return refused != 0 ? refused : commit(other, 0, bytes);
                             });
}

int commit(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  // In parts: a signal makes the call start over, and a timer that fires more often than one call
  // takes would otherwise keep it from ever ending.
  constexpr std::uint64_t part = 64u << 20;
  while (bytes > 0) {
    const auto now = static_cast<off_t>(std::min(bytes, part));
    if (::fallocate(descriptor, 0, static_cast<off_t>(offset), now) != 0) {
      if (errno == EINTR) continue;
      if (errno != EOPNOTSUPP) return errno;
      // The C library writes into every block instead.
      if (const int error = ::posix_fallocate(descriptor, static_cast<off_t>(offset), now)) {
        return error;
      }
    }
    offset += static_cast<std::uint64_t>(now);
    bytes -= static_cast<std::uint64_t>(now);
  }
  return 0;
}

int write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

int populate(std::span<std::byte> range) noexcept {
#ifdef MADV_POPULATE_WRITE
  for (;;) {
    if (::madvise(range.data(), range.size(), MADV_POPULATE_WRITE) == 0) return 0;
    if (errno == EINVAL) break;  // before Linux 5.14
    if (errno != EINTR) return errno;
  }
#endif
  for (std::size_t at = 0; at < range.size(); at += page_size()) {
    // An addition of nothing touches the page and loses no write of another process.
    __atomic_fetch_add(reinterpret_cast<unsigned char*>(range.data() + at), 0, __ATOMIC_RELAXED);
  }
  return 0;
}

int discard(std::span<std::byte> range) noexcept {
  return ::madvise(range.data(), range.size(), MADV_REMOVE) == 0 ? 0 : errno;
}

int exclude_from_core_dumps(std::span<std::byte> range) noexcept {
  return ::madvise(range.data(), range.size(), MADV_DONTDUMP) == 0 ? 0 : errno;
}

void release_freed_memory() noexcept {
  ::malloc_trim(0);
}

int advise_huge_pages(std::span<std::byte> range) noexcept {
  return ::madvise(range.data(), range.size(), MADV_HUGEPAGE) == 0 ? 0 : errno;
}

HugePages huge_pages(const std::string& root) {
  const std::string folder = root + "/sys/kernel/mm/transparent_hugepage/";
  const auto chosen = [&](const char* name) {
    // The file lists all words and puts the chosen one in brackets.
    std::ifstream file(folder + name);
    std::string line;
    std::getline(file, line);
    const std::size_t open = line.find('['), close = line.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
      return std::string();
    return line.substr(open + 1, close - open - 1);
  };
  HugePages pages{chosen("enabled"), chosen("shmem_enabled"), 0};
  std::ifstream(folder + "hpage_pmd_size") >> pages.bytes;
  return pages;
}

}  // namespace gex::os
