#include "vis/by_kind.h"

#include <algorithm>
#include <cstdint>

#include "vis/walk.h"

namespace gex::vis {

namespace {

constexpr auto max_stride = static_cast<std::ptrdiff_t>(Rows::max_stride);

bool is_of_rows(std::ptrdiff_t stride, std::size_t element) noexcept {
  return stride >= static_cast<std::ptrdiff_t>(element) && stride <= max_stride;
}

/// Returns true if the innermost loop is one copy of rows at both ends.
bool has_rows(const Shape& shape) noexcept {
  return shape.dims != 0 && is_of_rows(shape.dim[0].stride[remote_end], shape.element) &&
         is_of_rows(shape.dim[0].stride[local_end], shape.element);
}

/// Returns true if, of a shape that has rows, the next loop is one copy of planes at both ends.
bool has_planes(const Shape& shape) noexcept {
  const auto fits = [&](End end) {
    const std::ptrdiff_t row = shape.dim[0].stride[end], plane = shape.dim[1].stride[end];
    return plane <= max_stride && plane % row == 0 &&
           plane / row >= static_cast<std::ptrdiff_t>(shape.dim[0].count);
  };
  return shape.dims > 1 && fits(remote_end) && fits(local_end);
}

/// Begins to pack a region, or to unpack it, by copies that a transfer is made of.
struct BegunCopies {
  const MemoryKind& kind;
  CompletionTarget done;
  bool to_region;
  std::byte* buffer;
  std::uint32_t begun = 0;

  void piece(std::byte* at, std::size_t size) noexcept {
    if (to_region)
      kind.begin_copy(at, buffer, size, done, nullptr);
    else
      kind.begin_copy(buffer, at, size, done, nullptr);
    buffer += size;
    ++begun;
  }
  void rows(std::byte* first, std::ptrdiff_t stride, std::size_t count,
            std::size_t element) noexcept {
    if (count == 1 || !is_of_rows(stride, element)) {
      for (std::size_t i = 0; i < count; ++i, first += stride) piece(first, element);
      return;
    }
    const auto apart = static_cast<std::size_t>(stride);
    if (to_region)
      kind.begin_copy_rows({first, apart, buffer, element, element, count}, done, nullptr);
    else
      kind.begin_copy_rows({buffer, element, first, apart, element, count}, done, nullptr);
    buffer += count * element;
    ++begun;
  }
};

std::uint32_t begin_copies(BegunCopies copies, const StridedRegion& region, Cursor& cursor,
                           std::size_t bytes) noexcept {
  walk(
      region, cursor, bytes,
      [&](std::byte* at, std::size_t size) noexcept { copies.piece(at, size); },
      [&](std::byte* first, std::ptrdiff_t stride, std::size_t count) noexcept {
        copies.rows(first, stride, count, region.shape->element);
      });
  return copies.begun;
}

std::uint32_t begin_copies(BegunCopies copies, const BlockList& region, Cursor& cursor,
                           std::size_t bytes) noexcept {
  walk(region, cursor, bytes,
       [&](std::byte* at, std::size_t size) noexcept { copies.piece(at, size); });
  return copies.begun;
}

/// For copies to a region: the buffer is only read.
BegunCopies to_region_from(const MemoryKind& kind, const std::byte* from,
                           CompletionTarget done) noexcept {
  return {kind, done, /*to_region=*/true, const_cast<std::byte*>(from)};
}

}  // namespace

Injected begin_copy_strided(const MemoryKind& kind, const Shape& shape, End to_end, std::byte* to,
                            const std::byte* from, const CompletionTargets& targets) noexcept {
  const End from_end = other(to_end);
  const bool by_rows = has_rows(shape);
  const bool by_planes = by_rows && has_planes(shape);
  Rows rows{};
  if (by_rows) {
    rows.to_stride = static_cast<std::size_t>(shape.dim[0].stride[to_end]);
    rows.from_stride = static_cast<std::size_t>(shape.dim[0].stride[from_end]);
    rows.width = shape.element;
    rows.count = shape.dim[0].count;
    rows.planes = 1;
  }
  if (by_planes) {
    rows.planes = shape.dim[1].count;
    rows.to_plane = static_cast<std::size_t>(shape.dim[1].stride[to_end]);
    rows.from_plane = static_cast<std::size_t>(shape.dim[1].stride[from_end]);
  }
  const std::size_t at_once = by_rows ? rows.planes * rows.count : 1;
  std::uint32_t parts = 0;
  for (std::size_t i = 0; i < shape.elements; i += at_once, ++parts) {
    rows.to = to + shape.place(to_end, i);
    rows.from = from + shape.place(from_end, i);
    if (by_rows)
      kind.begin_copy_rows(rows, targets.done, targets.local_done);
    else
      kind.begin_copy(rows.to, rows.from, shape.element, targets.done, targets.local_done);
  }
  return {parts, /*completes_local_done=*/true};
}

Injected begin_copy_lists(const MemoryKind& kind, const BlockList& to, std::ptrdiff_t to_shift,
                          const BlockList& from, std::ptrdiff_t from_shift,
                          const CompletionTargets& targets) noexcept {
  std::uint32_t parts = 0;
  Cursor out;
  Cursor in;
  advance(to, out, 0);
  advance(from, in, 0);
  for (; out.block < to.count() && in.block < from.count(); ++parts) {
    const std::size_t bytes =
        std::min(to.length(out.block) - out.offset, from.length(in.block) - in.offset);
    kind.begin_copy(to.address(out.block) + to_shift + out.offset,
                    from.address(in.block) + from_shift + in.offset, bytes, targets.done,
                    targets.local_done);
    advance(to, out, bytes);
    advance(from, in, bytes);
  }
  return {parts, /*completes_local_done=*/true};
}

std::uint32_t begin_gather(const MemoryKind& kind, const StridedRegion& region, Cursor& cursor,
                           std::size_t bytes, std::byte* to, CompletionTarget done) noexcept {
  return begin_copies({kind, done, /*to_region=*/false, to}, region, cursor, bytes);
}
std::uint32_t begin_gather(const MemoryKind& kind, const BlockList& region, Cursor& cursor,
                           std::size_t bytes, std::byte* to, CompletionTarget done) noexcept {
  return begin_copies({kind, done, /*to_region=*/false, to}, region, cursor, bytes);
}

std::uint32_t begin_scatter(const MemoryKind& kind, const StridedRegion& region, Cursor& cursor,
                            std::size_t bytes, const std::byte* from,
                            CompletionTarget done) noexcept {
  return begin_copies(to_region_from(kind, from, done), region, cursor, bytes);
}
std::uint32_t begin_scatter(const MemoryKind& kind, const BlockList& region, Cursor& cursor,
                            std::size_t bytes, const std::byte* from,
                            CompletionTarget done) noexcept {
  return begin_copies(to_region_from(kind, from, done), region, cursor, bytes);
}

}  // namespace gex::vis
