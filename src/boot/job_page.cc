#include "boot/job_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace gex::boot {

namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

JobPage::~JobPage() {
  if (words_ != &private_words_) munmap(words_, page_bytes());
}

int JobPage::create(os::FileDescriptor& file) noexcept {
  os::FileDescriptor created(memfd_create("gex-job", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!created) return errno;
  if (ftruncate(created.get(), static_cast<off_t>(page_bytes())) != 0) return errno;
  if (fcntl(created.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return errno;
  }
  if (const int error = map(created.get()); error != 0) return error;
  file = std::move(created);
  return 0;
}

int JobPage::map(int file) noexcept {
  void* const address = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) return errno;
  // A memory file begins as zeros, which is the initial state of the words.
  words_ = static_cast<Words*>(address);
  return 0;
}

}  // namespace gex::boot
