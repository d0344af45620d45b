#include "base/os_mapping.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <cerrno>

#include "base/os_memory.h"

namespace gex::os {

Mapping Mapping::map(std::size_t bytes, int flags, int descriptor, std::uint64_t offset) noexcept {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, descriptor,
                         static_cast<off_t>(offset));
  if (address == MAP_FAILED) return {};
  return Mapping({static_cast<std::byte*>(address), bytes});
}

Mapping Mapping::shared(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept {
  return map(bytes, MAP_SHARED, descriptor, offset);
}

Mapping Mapping::guarded(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept {
  const std::size_t page = page_size();
  const std::size_t whole = round_up_to_page(bytes);
  const std::size_t alignment = whole >= huge_page && offset % huge_page == 0 ? huge_page : page;
  // Addresses that can hold the range wherever its alignment has it begin, and the guard.
  const std::size_t room = whole + page + (alignment - page);
  void* const reserved =
      ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return {};
  Mapping surplus({static_cast<std::byte*>(reserved), room});
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(reserved) & (alignment - 1);
  std::byte* const start = surplus.data() + before;
  if (::mmap(start, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             descriptor, static_cast<off_t>(offset)) == MAP_FAILED)
    return {};
  surplus.release();
  Mapping mapping({start, whole});
  mapping.guard_ = page;
  const std::size_t after = room - before - whole - page;
  if (before != 0) static_cast<void>(::munmap(reserved, before));
  if (after != 0) static_cast<void>(::munmap(start + whole + page, after));
  return mapping;
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
  static_cast<void>(::munmap(bytes_.data(), bytes_.size() + guard_));
  bytes_ = {};
  guard_ = 0;
  errno = reason;
}

}  // namespace gex::os
