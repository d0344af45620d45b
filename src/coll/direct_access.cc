#include "coll/direct_access.h"

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/os_process.h"
#include "base/os_process_memory.h"
#include "base/random.h"
#include "core/segment.h"

namespace gex::coll {

namespace {

/// A number that no other process has at the same address.
const std::uint64_t& own_token() noexcept {
  static const std::uint64_t token = SplitMix64(
      static_cast<std::uint64_t>(now_ns()) ^ static_cast<std::uint64_t>(os::process_id()) << 40)();
  return token;
}

}  // namespace

MemoryAt memory_at(const void* address) noexcept {
  return {reinterpret_cast<std::uintptr_t>(address), shared_offset(address)};
}

DirectAccess::DirectAccess(const Boards& boards)
    : boards_(boards),
      kernel_(boards.size(),
              env::boolean(env::Variable::cross_memory) ? Kernel::untried : Kernel::refuses) {
  kernel_[boards.own()] = Kernel::copies;
  if (env::boolean(env::Variable::cross_memory)) os::allow_memory_access_by_siblings();
  boards.of(boards.own()).owner = {os::process_id(), reinterpret_cast<std::uintptr_t>(&own_token()),
                                   own_token()};
}

bool DirectAccess::kernel_reaches(gex_Rank_t member) noexcept {
  Kernel& kernel = kernel_[member];
  if (kernel == Kernel::untried) {
    const shm::PostOwner& owner = boards_.of(member).owner;
    std::uint64_t token = 0;
    // In another namespace the number may be another process's.
    const bool copied =
        os::read_process_memory(owner.process, &token, owner.token_address, sizeof token) == 0;
    kernel = copied && token == owner.token ? Kernel::copies : Kernel::refuses;
  }
  return kernel == Kernel::copies;
}

bool DirectAccess::maps(gex_Rank_t member, const MemoryAt& memory,
                        std::size_t bytes) const noexcept {
  const MappedSegments mapped;
  return find(mapped, member, memory, bytes) != nullptr;
}

void DirectAccess::require_copied(int error, gex_Rank_t member) const noexcept {
  if (error == 0 || error == ESRCH) return;
  fatal(
      "a collective operation cannot copy between the memory of this process and that of rank %u "
      "any more: %s; GEX_CROSS_MEMORY=0 avoids such copies",
      boards_.jobrank_of(member), std::strerror(error));
}

bool DirectAccess::copy_by_kernel(gex_Rank_t member, const MemoryAt& memory, std::byte* to,
                                  std::size_t bytes) noexcept {
  if (!kernel_reaches(member)) return false;
  require_copied(
      os::read_process_memory(boards_.of(member).owner.process, to, memory.address, bytes), member);
  return true;
}

bool DirectAccess::copy_from(gex_Rank_t member, const MemoryAt& memory, std::byte* to,
                             std::size_t bytes) noexcept {
  return read(member, memory, to, bytes,
              [&](const std::byte* from) { copy_unless_there(to, from, bytes); });
}

bool DirectAccess::copy_to(gex_Rank_t member, const MemoryAt& memory, const std::byte* from,
                           std::size_t bytes) noexcept {
  if (memory.shared()) {
    const MappedSegments mapped;
    if (std::byte* const here = find(mapped, member, memory, bytes)) {
      std::memcpy(here, from, bytes);
      return true;
    }
  }
  if (!kernel_reaches(member)) return false;
  require_copied(
      os::write_process_memory(boards_.of(member).owner.process, memory.address, from, bytes),
      member);
  return true;
}

}  // namespace gex::coll
