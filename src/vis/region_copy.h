#pragma once
// Copies by this processor between a region of a transfer and contiguous memory, or another region:
// all is memory of the host.

#include <cstddef>

#include "vis/region.h"

namespace gex::vis {

/// Copies the next `bytes` of the region, from the cursor on, to `to`, and moves the cursor behind
/// them.
void gather(const StridedRegion& region, Cursor& cursor, std::size_t bytes, std::byte* to) noexcept;
void gather(const BlockList& region, Cursor& cursor, std::size_t bytes, std::byte* to) noexcept;

/// Copies `bytes` at `from` to the region, from the cursor on, and moves the cursor behind them.
void scatter(const StridedRegion& region, Cursor& cursor, std::size_t bytes,
             const std::byte* from) noexcept;
void scatter(const BlockList& region, Cursor& cursor, std::size_t bytes,
             const std::byte* from) noexcept;

/// Copies one list to another with the same number of bytes, in blocks of any lengths. The shifts
/// are added to the addresses.
void copy_lists(const BlockList& to, std::ptrdiff_t to_shift, const BlockList& from,
                std::ptrdiff_t from_shift) noexcept;

}  // namespace gex::vis
