// In place of base/os_mapping.cc in modules: what ranks share lies at the same addresses for all of
// them. ThreadSanitizer distinguishes memory by its address, and so sees what two ranks do to it.

#include "base/os_mapping.h"

#include <sys/mman.h>
#include <cerrno>

#include "base/os_memory.h"
#include "rank.h"

namespace gex::os {

Mapping Mapping::map(std::size_t bytes, int flags, int descriptor, std::uint64_t offset) noexcept {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE,
                               descriptor, static_cast<off_t>(offset));
  if (address == MAP_FAILED) return {};
  return Mapping({static_cast<std::byte*>(address), bytes});
}

Mapping Mapping::shared(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept {
  std::byte* const address = sim::services().map_file(descriptor, offset, bytes);
  if (address == nullptr) return {};
  return Mapping({address, bytes});
}

Mapping Mapping::guarded(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept {
  // Other parts of the file are behind it: there is no place for a guard.
  return shared(descriptor, offset, round_up_to_page(bytes));
}

Mapping Mapping::copied(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept {
  return map(bytes, MAP_PRIVATE, descriptor, offset);
}

Mapping Mapping::anonymous(std::size_t bytes) noexcept {
  return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void Mapping::reset() noexcept {
  if (bytes_.empty()) return;
  const int reason = errno;
  if (!sim::services().has_mapped(bytes_.data()))
    static_cast<void>(::munmap(bytes_.data(), bytes_.size()));
  bytes_ = {};
  errno = reason;
}

}  // namespace gex::os
