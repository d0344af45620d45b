#include "vis/region_copy.h"

#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "vis/packers.h"
#include "vis/walk.h"

namespace gex::vis {

namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (has_other_kinds()) [[unlikely]]
    return copy_memory(to, from, bytes);
  with_size(bytes, [=](auto size) noexcept { std::memcpy(to, from, size); });
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
        std::memcpy(to, from, size);
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
