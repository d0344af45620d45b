#pragma once
// Non-contiguous put and get by the copies of a kind of memory, where a kind of this process's
// reaches both sides (rma/by_kind.h): a copy of rows, or of planes of rows, for the one or two
// innermost loops of a strided transfer, a copy for each piece of what lists name. None is waited
// for; those that begin together are completed together. The ends of transfers that messages carry
// are packed and unpacked so, too.

#include <cstddef>
#include <cstdint>

#include "core/initiate.h"
#include "core/memory.h"
#include "vis/region.h"
#include "vis/shape.h"

namespace gex::vis {

/// `to` and `from`: the first elements, where the kind reaches them.
Injected begin_copy_strided(const MemoryKind& kind, const Shape& shape, End to_end, std::byte* to,
                            const std::byte* from, const CompletionTargets& targets) noexcept;

/// The shifts are added to the addresses.
Injected begin_copy_lists(const MemoryKind& kind, const BlockList& to, std::ptrdiff_t to_shift,
                          const BlockList& from, std::ptrdiff_t from_shift,
                          const CompletionTargets& targets) noexcept;

/// As `gather` and `scatter` (region_copy.h), where the region is memory of `kind`. Returns how
/// many copies have begun, each of which completes `done` once.
std::uint32_t begin_gather(const MemoryKind& kind, const StridedRegion& region, Cursor& cursor,
                           std::size_t bytes, std::byte* to, CompletionTarget done) noexcept;
std::uint32_t begin_gather(const MemoryKind& kind, const BlockList& region, Cursor& cursor,
                           std::size_t bytes, std::byte* to, CompletionTarget done) noexcept;
std::uint32_t begin_scatter(const MemoryKind& kind, const StridedRegion& region, Cursor& cursor,
                            std::size_t bytes, const std::byte* from,
                            CompletionTarget done) noexcept;
std::uint32_t begin_scatter(const MemoryKind& kind, const BlockList& region, Cursor& cursor,
                            std::size_t bytes, const std::byte* from,
                            CompletionTarget done) noexcept;

}  // namespace gex::vis
