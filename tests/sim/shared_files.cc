#include "shared_files.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

namespace gex::sim {

namespace {

struct File {
  std::byte* begin = nullptr;
  std::uint64_t bytes = 0;
};

std::mutex mutex;
/// By device and inode. As long as a file is mapped no other one has its inode.
std::map<std::pair<dev_t, ino_t>, File> files;

}  // namespace

std::byte* map_file(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return nullptr;
  const std::lock_guard lock(mutex);
  File& file = files[{status.st_dev, status.st_ino}];
  if (file.begin == nullptr) {
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    void* const address = mmap(nullptr, file.bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (address == MAP_FAILED) return nullptr;
    file.begin = static_cast<std::byte*>(address);
  }
  if (offset > file.bytes || bytes > file.bytes - offset) {
    errno = EINVAL;
    return nullptr;
  }
  return file.begin + offset;
}

bool has_mapped(const void* address) noexcept {
  const std::lock_guard lock(mutex);
  for (const auto& [key, file] : files)
    if (address >= file.begin && address < file.begin + file.bytes) return true;
  return false;
}

}  // namespace gex::sim
