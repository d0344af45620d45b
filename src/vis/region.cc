#include "vis/region.h"

#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "vis/packers.h"

namespace gex::vis {

namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (has_other_kinds()) [[unlikely]]
    return copy_memory(to, from, bytes);
  with_size(bytes, [=](auto size) noexcept { std::memcpy(to, from, size); });
}

/// Calls `rows(address, stride, count)` for whole elements in the loops' order, `count` of them
/// starting at element `index`.
template <class Rows>
void for_rows(const StridedRegion& region, std::size_t index, std::size_t count,
              Rows rows) noexcept {
  const Shape& shape = *region.shape;
  const auto stride = [&](unsigned i) noexcept { return shape.dim[i].stride[region.end]; };
  if (shape.dims == 0) {
    rows(region.first, 0, count);
    return;
  }
  std::size_t turn[max_dims];
  std::byte* row = region.first;
  for (unsigned i = 0; i < shape.dims; ++i) {
    turn[i] = index % shape.dim[i].count;
    index /= shape.dim[i].count;
    row += static_cast<std::ptrdiff_t>(turn[i]) * stride(i);
  }
  for (;;) {
    const std::size_t here = std::min(count, shape.dim[0].count - turn[0]);
    rows(row, stride(0), here);
    count -= here;
    if (count == 0) return;
    row -= static_cast<std::ptrdiff_t>(turn[0]) * stride(0);
    turn[0] = 0;
    for (unsigned i = 1; i < shape.dims; ++i) {
      row += stride(i);
      if (++turn[i] < shape.dim[i].count) break;
      row -= static_cast<std::ptrdiff_t>(shape.dim[i].count) * stride(i);
      turn[i] = 0;
    }
  }
}

/// Walks `bytes` from the cursor on: `part(address, bytes)` for a piece of an element, `rows` as
/// above for whole ones. Moves the cursor.
template <class Part, class Rows>
void walk(const StridedRegion& region, Cursor& cursor, std::size_t bytes, Part part,
          Rows rows) noexcept {
  const Shape& shape = *region.shape;
  if (cursor.offset != 0) {
    const std::size_t here = std::min(bytes, shape.element - cursor.offset);
    part(region.first + shape.place(region.end, cursor.block) + cursor.offset, here);
    bytes -= here;
    cursor.offset += here;
    if (cursor.offset < shape.element) return;
    cursor = {cursor.block + 1, 0};
  }
  const std::size_t whole = bytes / shape.element;
  if (whole != 0) for_rows(region, cursor.block, whole, rows);
  cursor.block += whole;
  cursor.offset = bytes - whole * shape.element;
  if (cursor.offset != 0) part(region.first + shape.place(region.end, cursor.block), cursor.offset);
}

/// Calls `piece(address, bytes)` for `bytes` from the cursor on. Moves the cursor.
template <class Piece>
void walk(const BlockList& region, Cursor& cursor, std::size_t bytes, Piece piece) noexcept {
  while (bytes != 0) {
    const std::size_t left = region.length(cursor.block) - cursor.offset;
    const std::size_t here = std::min(bytes, left);
    if (here != 0) piece(region.address(cursor.block) + cursor.offset, here);
    bytes -= here;
    if (here == left)
      cursor = {cursor.block + 1, 0};
    else
      cursor.offset += here;
  }
}

}  // namespace

bool BlockList::total(std::size_t& bytes) const noexcept {
  if (is_indexed()) return !__builtin_mul_overflow(count_, length_, &bytes);
  bytes = 0;
  for (std::size_t i = 0; i < count_; ++i)
    if (__builtin_add_overflow(bytes, blocks_[i].gex_len, &bytes)) return false;
  return true;
}

void gather(const StridedRegion& region, Cursor& cursor, std::size_t bytes,
            std::byte* to) noexcept {
  const std::size_t element = region.shape->element;
  walk(
      region, cursor, bytes,
      [&](const std::byte* from, std::size_t size) noexcept {
        copy_memory(to, from, size);
        to += size;
      },
      [&](const std::byte* from, std::ptrdiff_t stride, std::size_t count) noexcept {
        copy_plane(to, from, element, {count, static_cast<std::ptrdiff_t>(element), stride},
                   {1, 0, 0});
        to += count * element;
      });
}

void scatter(const StridedRegion& region, Cursor& cursor, std::size_t bytes,
             const std::byte* from) noexcept {
  const std::size_t element = region.shape->element;
  walk(
      region, cursor, bytes,
      [&](std::byte* to, std::size_t size) noexcept {
        copy_memory(to, from, size);
        from += size;
      },
      [&](std::byte* to, std::ptrdiff_t stride, std::size_t count) noexcept {
        copy_plane(to, from, element, {count, stride, static_cast<std::ptrdiff_t>(element)},
                   {1, 0, 0});
        from += count * element;
      });
}

void gather(const BlockList& region, Cursor& cursor, std::size_t bytes, std::byte* to) noexcept {
  walk(region, cursor, bytes, [&](const std::byte* from, std::size_t size) noexcept {
    copy_bytes(to, from, size);
    to += size;
  });
}

void scatter(const BlockList& region, Cursor& cursor, std::size_t bytes,
             const std::byte* from) noexcept {
  walk(region, cursor, bytes, [&](std::byte* to, std::size_t size) noexcept {
    copy_bytes(to, from, size);
    from += size;
  });
}

void copy_lists(const BlockList& to, std::ptrdiff_t to_shift, const BlockList& from,
                std::ptrdiff_t from_shift) noexcept {
  if (to.is_indexed() && from.is_indexed() && to.length() == from.length() && !has_other_kinds()) {
    with_size(to.length(), [&](auto size) noexcept {
      for (std::size_t i = 0; i < to.count(); ++i)
        std::memcpy(to.address(i) + to_shift, from.address(i) + from_shift, size);
    });
    return;
  }
  Cursor source;
  for (std::size_t i = 0; i < to.count(); ++i) {
    // An empty entry's address may be null.
    if (to.length(i) == 0) continue;
    std::byte* at = to.address(i) + to_shift;
    walk(from, source, to.length(i), [&](const std::byte* piece, std::size_t size) noexcept {
      copy_bytes(at, piece + from_shift, size);
      at += size;
    });
  }
}

}  // namespace gex::vis
