#pragma once
// Memory from the operating system: files that live in memory, and how pages of mapped ranges are
// asked for and given back. Mappings are in os_mapping.h.
//
// Failure is a value: an empty object with the reason in errno, or an error number. Which limits
// there are, and how much may be asked for, is in os_memory_limits.h. Any thread may call anything;
// an object is used by one thread at a time.
//
//   MemoryFile file = create_memory_file("gex-segments", bytes);
//   if (!file.descriptor) fatal_system("creating the segments' memory", errno);

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/os_file.h"

namespace gex::os {

std::size_t page_size() noexcept;

/// Large segments are aligned to so many bytes, so that they can have huge pages.
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// `bytes` rounded up to whole pages.
std::uint64_t round_up_to_page(std::uint64_t bytes) noexcept;

/// A sparse file in memory that has no name and ends with its last descriptor and mapping.
struct MemoryFile {
  FileDescriptor descriptor;  ///< close-on-exec; empty on failure
  std::string origin;         ///< for gexinfo: "memfd", or the folder of the unlinked file
  std::uint64_t space = 0;    ///< bytes its file system can hold; UINT64_MAX: only memory limits it
  std::string why;            ///< on failure: each way that was tried, and how it failed
};

/// Makes a file of `bytes` zero bytes that occupy no memory until they are touched or committed.
/// `name` shows in /proc/PID/maps. Without memfd, an unlinked file in the first of /dev/shm,
/// $TMPDIR and /tmp that takes one of this size. A size above RLIMIT_FSIZE fails with EFBIG (the
/// kernel itself would send SIGXFSZ). memfd_create may be missing, or be denied to a container.
MemoryFile create_memory_file(const char* name, std::uint64_t bytes);

/// A small file of this kind whose bytes stay there while other processes have it open: the size of
/// a memory file cannot be changed, and an unlinked file has its pages from the beginning (but a
/// process that has it open can shorten it).
MemoryFile create_fixed_file(const char* name, std::uint64_t bytes);

/// A memory file that is an unlinked file in the first folder that takes it. Touching more of it
/// than `space` is SIGBUS: a caller that relies on such a file compares first, or commits.
MemoryFile create_unlinked_file(std::span<const std::string> folders, std::uint64_t bytes);

/// Allocates the pages of a part of a memory file now, so that touching them later cannot fail.
/// Returns 0 or the error number: ENOSPC or ENOMEM when there are not enough.
int commit(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept;

/// Writes bytes to a part of a memory file, in which all who have it mapped find them. Returns 0 or
/// the error number.
int write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) noexcept;

/// Makes the page table entries of a mapped range for writing, so that the first touch of a page
/// costs nothing. The range must be able to have pages (`commit` first for a file). Returns 0 or
/// the error number.
int populate(std::span<std::byte> range) noexcept;

/// Gives the pages of a mapped range of a memory file back to the system, which has zero bytes
/// then. Returns 0 or the error number: a file system that cannot do so keeps pages and contents.
int discard(std::span<std::byte> range) noexcept;

/// Leaves a mapped range out of core dumps, for which the system would read, and so allocate, every
/// page of a memory file. Returns 0 or the error number.
int exclude_from_core_dumps(std::span<std::byte> range) noexcept;

/// Gives what the C library keeps of freed memory back to the system.
void release_freed_memory() noexcept;

/// Asks for transparent huge pages in a range; whether they come is the system's decision (see
/// `huge_pages`). Returns 0 or the error number, EINVAL if the kernel has none.
int advise_huge_pages(std::span<std::byte> range) noexcept;

/// The system's settings of transparent huge pages, for gexinfo: the chosen word of each file of
/// /sys/kernel/mm/transparent_hugepage ("never", "advise", ...), "" if there is none.
struct HugePages {
  std::string anonymous;    ///< `enabled`
  std::string shared;       ///< `shmem_enabled`: what holds for memory files
  std::uint64_t bytes = 0;  ///< size of one, 0 if unknown
};
HugePages huge_pages(const std::string& root = "");

}  // namespace gex::os
