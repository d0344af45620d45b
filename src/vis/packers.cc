#include "vis/packers.h"

#include <algorithm>

namespace gex::vis {

namespace {

/// Edge of a tile in bytes: what a transpose reads along one end and writes along the other. A few
/// lines of each of as many rows stay in the first-level cache, however far apart the rows are.
constexpr std::size_t tile_bytes = 128;

std::size_t distance(std::ptrdiff_t stride) noexcept {
  return static_cast<std::size_t>(stride < 0 ? -stride : stride);
}

/// Copies `loop.count` elements, which `block` copies.
template <class Block>
[[gnu::always_inline]] inline void copy_loop(std::byte* __restrict to,
                                             const std::byte* __restrict from, const Block& block,
                                             const Loop& loop) noexcept {
  // Copies: `loop` would be read again after each store, which may alias it.
  const std::ptrdiff_t to_stride = loop.to;
  const std::ptrdiff_t from_stride = loop.from;
#pragma GCC unroll 4
  for (std::size_t n = loop.count; n != 0; --n) {
    block.copy(to, from);
    to += to_stride;
    from += from_stride;
  }
}

/// Copies `inner.count` elements `outer.count` times.
void copy_plane(std::byte* to, const std::byte* from, std::size_t element, const Loop& inner,
                const Loop& outer) noexcept {
  with_block(element, [=](auto block) noexcept {
    std::byte* to_row = to;
    const std::byte* from_row = from;
    for (std::size_t i = outer.count; i != 0; --i) {
      copy_loop(to_row, from_row, block, inner);
      to_row += outer.to;
      from_row += outer.from;
    }
  });
}

/// The loops of one copy: `loops[0]` and `loops[1]` make a plane, the others go round it.
void copy_planes(std::byte* to, const std::byte* from, std::size_t element, const Loop* loops,
                 unsigned count) noexcept {
  std::size_t turn[max_dims];
  std::fill(turn, turn + count, 0);
  for (;;) {
    copy_plane(to, from, element, loops[0], loops[1]);
    unsigned i = 2;
    for (; i < count; ++i) {
      to += loops[i].to;
      from += loops[i].from;
      if (++turn[i] < loops[i].count) break;
      to -= static_cast<std::ptrdiff_t>(loops[i].count) * loops[i].to;
      from -= static_cast<std::ptrdiff_t>(loops[i].count) * loops[i].from;
      turn[i] = 0;
    }
    if (i == count) return;
  }
}

/// The loop along which the source is densest, if that is not the one along which the destination
/// is: then the copy transposes. 0 if it does not.
unsigned transposed_loop(const Loop* loops, unsigned count, std::size_t element) noexcept {
  unsigned densest = 0;
  for (unsigned i = 1; i < count; ++i)
    if (distance(loops[i].from) < distance(loops[densest].from)) densest = i;
  const std::size_t edge = tile_bytes / element;
  const bool pays = edge >= 2 && loops[0].count > edge && loops[densest].count > edge &&
                    distance(loops[0].from) > tile_bytes / 2;
  return pays ? densest : 0;
}

void copy_in_tiles(std::byte* to, const std::byte* from, std::size_t element, Loop* loops,
                   unsigned count, unsigned transposed) noexcept {
  std::rotate(loops + 1, loops + transposed, loops + transposed + 1);
  const std::size_t edge = tile_bytes / element;
  const Loop rows = loops[0];
  const Loop columns = loops[1];
  for (std::size_t row = 0; row < rows.count; row += edge) {
    loops[0].count = std::min(edge, rows.count - row);
    const auto r = static_cast<std::ptrdiff_t>(row);
    for (std::size_t column = 0; column < columns.count; column += edge) {
      loops[1].count = std::min(edge, columns.count - column);
      const auto c = static_cast<std::ptrdiff_t>(column);
      copy_planes(to + r * rows.to + c * columns.to, from + r * rows.from + c * columns.from,
                  element, loops, count);
    }
  }
}

/// Apart from `copy_strided`, whose short way needs no such tables.
[[gnu::noinline]] void copy_nest(const Shape& shape, End to_end, End from_end, std::byte* to,
                                 const std::byte* from) noexcept {
  Loop loops[max_dims];
  unsigned count = 0;
  for (; count < shape.dims; ++count) {
    const Dimension& dimension = shape.dim[count];
    loops[count] = {dimension.count, dimension.stride[to_end], dimension.stride[from_end]};
  }
  for (; count < 2; ++count) loops[count] = {1, 0, 0};
  if (const unsigned transposed = transposed_loop(loops, shape.dims, shape.element))
    copy_in_tiles(to, from, shape.element, loops, count, transposed);
  else
    copy_planes(to, from, shape.element, loops, count);
}

}  // namespace

void copy_row(std::byte* to, const std::byte* from, std::size_t element,
              const Loop& loop) noexcept {
  with_block(element, [&](auto block) noexcept { copy_loop(to, from, block, loop); });
}

void copy_strided(const Shape& shape, End to_end, std::byte* to, const std::byte* from) noexcept {
  const End from_end = other(to_end);
  if (shape.dims > 1) return copy_nest(shape, to_end, from_end, to, from);
  // Most shapes fold into one loop, and few elements are copied in less time than a nest is set up.
  if (shape.dims == 0) {
    std::memcpy(to, from, shape.element);
    return;
  }
  const Dimension& dimension = shape.dim[0];
  const Loop loop{dimension.count, dimension.stride[to_end], dimension.stride[from_end]};
  with_block(shape.element, [&](auto block) noexcept { copy_loop(to, from, block, loop); });
}

}  // namespace gex::vis
