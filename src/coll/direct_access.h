#pragma once
// Direct access to the memory of the other members of a team that share memory with this one.
//
// What lies in a segment that is published to this process is mapped here. All other memory the
// kernel copies (base/os_process_memory.h), if it does so between the two processes and
// GEX_CROSS_MEMORY allows it; that is tried once for each member. A member names its memory by a
// MemoryAt, and may be reached in one way by one process and in no way by another.
//
// Used by one thread at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/boards.h"
#include "core/published.h"

namespace gex::coll {

/// Where memory of a member is.
struct MemoryAt {
  std::uint64_t address = 0;          ///< in its own process
  std::uint64_t offset = not_shared;  ///< in its part of shared memory

  bool shared() const noexcept { return offset != not_shared; }
  MemoryAt operator+(std::size_t bytes) const noexcept {
    return {address + bytes, shared() ? offset + bytes : not_shared};
  }
};

/// Names memory of this process.
MemoryAt memory_at(const void* address) noexcept;

class DirectAccess {
 public:
  /// Signs the own one of the boards.
  explicit DirectAccess(const Boards& boards);

  /// Returns true if the kernel copies between this process and the member's. The member has
  /// posted.
  bool kernel_reaches(gex_Rank_t member) noexcept;

  /// Returns true if such memory is mapped here.
  bool maps(gex_Rank_t member, const MemoryAt& memory, std::size_t bytes) const noexcept;

  /// Copies memory of a member to `to`; false if it is not reached.
  bool copy_from(gex_Rank_t member, const MemoryAt& memory, std::byte* to,
                 std::size_t bytes) noexcept;
  /// Calls `act` with where the bytes can be read: where they are mapped, or `buffer`, to which the
  /// kernel copies them. False if they are not reached. `act` publishes no segment.
  template <class Act>
  bool read(gex_Rank_t member, const MemoryAt& memory, std::byte* buffer, std::size_t bytes,
            Act act) noexcept {
    if (memory.shared()) {
      const MappedSegments mapped;
      if (const std::byte* here = find(mapped, member, memory, bytes)) {
        act(here);
        return true;
      }
    }
    if (!copy_by_kernel(member, memory, buffer, bytes)) return false;
    act(static_cast<const std::byte*>(buffer));
    return true;
  }
  /// Copies `from` to memory of a member; false if it is not reached.
  bool copy_to(gex_Rank_t member, const MemoryAt& memory, const std::byte* from,
               std::size_t bytes) noexcept;

 private:
  enum class Kernel : std::uint8_t { untried, copies, refuses };

  std::byte* find(const MappedSegments& mapped, gex_Rank_t member, const MemoryAt& memory,
                  std::size_t bytes) const noexcept {
    return mapped.find(boards_.jobrank_of(member), memory.offset, bytes);
  }
  bool copy_by_kernel(gex_Rank_t member, const MemoryAt& memory, std::byte* to,
                      std::size_t bytes) noexcept;
  /// Ends the job unless the member's process is there no more, which ends it by itself.
  void require_copied(int error, gex_Rank_t member) const noexcept;

  const Boards& boards_;
  std::vector<Kernel> kernel_;  ///< by member
};

}  // namespace gex::coll
