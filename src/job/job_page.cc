#include "job/job_page.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "base/os_memory.h"

namespace gex::job {

namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Size of the file. Parts that no rank writes are not allocated.
std::size_t file_bytes(std::uint32_t ranks) noexcept {
  return page_bytes() + ranks * sizeof(LastCall);
}

}  // namespace

JobPage::~JobPage() {
  if (words_ != &private_words_) munmap(words_, file_bytes(last_call_count_));
}

int JobPage::create(os::FileDescriptor& file, std::uint32_t ranks, std::string* why) {
  os::MemoryFile created = os::create_fixed_file("gex-job", file_bytes(ranks));
  int error = created.descriptor ? 0 : errno;
  if (error == 0) error = map(created.descriptor.get(), ranks);
  if (why != nullptr && error != 0) *why = created.why.empty() ? std::strerror(error) : created.why;
  if (error == 0) file = std::move(created.descriptor);
  return error;
}

int JobPage::map(int file, std::uint32_t ranks) noexcept {
  // The file's size is fixed, so one check suffices. Access beyond its end would raise SIGBUS.
  struct stat status {};
  if (fstat(file, &status) != 0) return errno;
  if (static_cast<std::uint64_t>(status.st_size) < file_bytes(ranks)) return EPROTO;
  void* const address =
      mmap(nullptr, file_bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) return errno;
  // A new file holds zeros, which is the initial state of all words.
  words_ = static_cast<Words*>(address);
  last_calls_ = reinterpret_cast<LastCall*>(static_cast<std::byte*>(address) + page_bytes());
  last_call_count_ = ranks;
  return 0;
}

}  // namespace gex::job
