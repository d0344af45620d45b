#include "vis/region_copy.h"

#include <algorithm>
#include <cstring>

#include "vis/packers.h"
#include "vis/walk.h"

namespace gex::vis {

namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  with_block(bytes, [=](auto block) noexcept { block.copy(to, from); });
}

/// Whole blocks of one length, from the cursor on: how many of them the next `bytes` are.
std::size_t equal_blocks(const BlockList& region, const Cursor& cursor,
                         std::size_t bytes) noexcept {
  if (!region.is_indexed() || cursor.offset != 0 || region.length() == 0) return 0;
  return bytes / region.length();
}

}  // namespace

void gather(const StridedRegion& region, Cursor& cursor, std::size_t bytes,
            std::byte* to) noexcept {
  const std::size_t element = region.shape->element;
  walk(
      region, cursor, bytes,
      [&](const std::byte* from, std::size_t size) noexcept {
        std::memcpy(to, from, size);
        to += size;
      },
      [&](const std::byte* from, std::ptrdiff_t stride, std::size_t count) noexcept {
        copy_row(to, from, element, {count, static_cast<std::ptrdiff_t>(element), stride});
        to += count * element;
      });
}

void scatter(const StridedRegion& region, Cursor& cursor, std::size_t bytes,
             const std::byte* from) noexcept {
  const std::size_t element = region.shape->element;
  walk(
      region, cursor, bytes,
      [&](std::byte* to, std::size_t size) noexcept {
        std::memcpy(to, from, size);
        from += size;
      },
      [&](std::byte* to, std::ptrdiff_t stride, std::size_t count) noexcept {
        copy_row(to, from, element, {count, stride, static_cast<std::ptrdiff_t>(element)});
        from += count * element;
      });
}

void gather(const BlockList& region, Cursor& cursor, std::size_t bytes, std::byte* to) noexcept {
  if (const std::size_t count = equal_blocks(region, cursor, bytes)) {
    const std::size_t length = region.length();
    with_block(length, [&, at = to](auto block) mutable noexcept {
      void* const* const addresses = region.addresses() + cursor.block;
      for (std::size_t i = 0; i < count; ++i, at += length)
        block.copy(at, static_cast<const std::byte*>(addresses[i]));
    });
    cursor.block += count;
    bytes -= count * length;
    to += count * length;
  }
  walk(region, cursor, bytes, [&](const std::byte* from, std::size_t size) noexcept {
    copy_bytes(to, from, size);
    to += size;
  });
}

void scatter(const BlockList& region, Cursor& cursor, std::size_t bytes,
             const std::byte* from) noexcept {
  if (const std::size_t count = equal_blocks(region, cursor, bytes)) {
    const std::size_t length = region.length();
    with_block(length, [&, at = from](auto block) mutable noexcept {
      void* const* const addresses = region.addresses() + cursor.block;
      for (std::size_t i = 0; i < count; ++i, at += length)
        block.copy(static_cast<std::byte*>(addresses[i]), at);
    });
    cursor.block += count;
    bytes -= count * length;
    from += count * length;
  }
  walk(region, cursor, bytes, [&](std::byte* to, std::size_t size) noexcept {
    copy_bytes(to, from, size);
    from += size;
  });
}

void copy_lists(const BlockList& to, std::ptrdiff_t to_shift, const BlockList& from,
                std::ptrdiff_t from_shift) noexcept {
  if (to.is_indexed() && from.is_indexed() && to.length() == from.length()) {
    with_block(to.length(), [=, to_list = to.addresses(), from_list = from.addresses(),
                             count = to.count()](auto block) noexcept {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < count; ++i)
        block.copy(static_cast<std::byte*>(to_list[i]) + to_shift,
                   static_cast<const std::byte*>(from_list[i]) + from_shift);
    });
    return;
  }
  Cursor source;
  for (std::size_t i = 0; i < to.count(); ++i) {
    const std::size_t length = to.length(i);
    // An empty entry's address may be null.
    if (length == 0) continue;
    std::byte* at = to.address(i) + to_shift;
    if (source.offset == 0 && from.length(source.block) == length) {
      copy_bytes(at, from.address(source.block) + from_shift, length);
      ++source.block;
      continue;
    }
    walk(from, source, length, [&](const std::byte* piece, std::size_t size) noexcept {
      copy_bytes(at, piece + from_shift, size);
      at += size;
    });
  }
}

}  // namespace gex::vis
