#include "boot/job_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <new>

namespace gex::boot {

namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Of which the part that no rank writes stays without memory.
std::size_t file_bytes(std::uint32_t ranks) noexcept {
  return page_bytes() + ranks * sizeof(LastCall);
}

}  // namespace

JobPage::~JobPage() {
  if (words_ != &private_words_) munmap(words_, file_bytes(last_call_count_));
}

int JobPage::create(os::FileDescriptor& file, std::uint32_t ranks) noexcept {
  os::FileDescriptor created(memfd_create("gex-job", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!created) return errno;
  if (ftruncate(created.get(), static_cast<off_t>(file_bytes(ranks))) != 0) return errno;
  if (fcntl(created.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return errno;
  }
  if (const int error = map(created.get(), ranks); error != 0) return error;
  file = std::move(created);
  return 0;
}

int JobPage::map(int file, std::uint32_t ranks) noexcept {
  // It is sealed: one look is enough, and what is missing now would be a fault of memory later.
  struct stat status {};
  if (fstat(file, &status) != 0) return errno;
  if (static_cast<std::uint64_t>(status.st_size) < file_bytes(ranks)) return EPROTO;
  void* const address =
      mmap(nullptr, file_bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) return errno;
  // A memory file begins as zeros, which is the initial state of all of it.
  words_ = static_cast<Words*>(address);
  last_calls_ = reinterpret_cast<LastCall*>(static_cast<std::byte*>(address) + page_bytes());
  last_call_count_ = ranks;
  return 0;
}

}  // namespace gex::boot
