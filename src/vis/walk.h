#pragma once
// Walks through a region of a transfer from a cursor on, in pieces that are contiguous and in rows
// of whole elements.
//
//   walk(list, cursor, bytes, [&](std::byte* piece, std::size_t size) noexcept { ... });
//   walk(strided, cursor, bytes, fragment, rows);
//
// Reads and writes no memory of the region.

#include <algorithm>
#include <cstddef>

#include "vis/region.h"

namespace gex::vis {

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

/// Walks `bytes` from the cursor on: `fragment(address, bytes)` for some bytes of an element,
/// `rows` as above for whole ones. Moves the cursor.
template <class Fragment, class Rows>
void walk(const StridedRegion& region, Cursor& cursor, std::size_t bytes, Fragment fragment,
          Rows rows) noexcept {
  const Shape& shape = *region.shape;
  if (cursor.offset != 0) {
    const std::size_t here = std::min(bytes, shape.element - cursor.offset);
    fragment(region.first + shape.place(region.end, cursor.block) + cursor.offset, here);
    bytes -= here;
    cursor.offset += here;
    if (cursor.offset < shape.element) return;
    cursor = {cursor.block + 1, 0};
  }
  const std::size_t whole = bytes / shape.element;
  if (whole != 0) for_rows(region, cursor.block, whole, rows);
  cursor.block += whole;
  cursor.offset = bytes - whole * shape.element;
  if (cursor.offset != 0)
    fragment(region.first + shape.place(region.end, cursor.block), cursor.offset);
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

}  // namespace gex::vis
