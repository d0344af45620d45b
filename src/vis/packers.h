#pragma once
// Packers: copies of many equal elements, specialised by their size.

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "vis/shape.h"

namespace gex::vis {

/// Calls `f` with the size: as a constant if it is one that a few loads and stores move, so that
/// memcpy inside `f` is compiled to them.
template <class F>
inline decltype(auto) with_size(std::size_t size, F f) {
  switch (size) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>{});
    case 2:
      return f(std::integral_constant<std::size_t, 2>{});
    case 4:
      return f(std::integral_constant<std::size_t, 4>{});
    case 8:
      return f(std::integral_constant<std::size_t, 8>{});
    case 16:
      return f(std::integral_constant<std::size_t, 16>{});
    case 32:
      return f(std::integral_constant<std::size_t, 32>{});
    case 64:
      return f(std::integral_constant<std::size_t, 64>{});
    default:
      return f(size);
  }
}

/// One loop of a copy.
struct Loop {
  std::size_t count;
  std::ptrdiff_t to;
  std::ptrdiff_t from;
};

/// Copies `inner.count` elements `outer.count` times. Elements of the two ends do not overlap.
void copy_plane(std::byte* to, const std::byte* from, std::size_t element, const Loop& inner,
                const Loop& outer) noexcept;

/// Copies a whole shape between two places of this process; `to` and `from` are the first elements.
/// The order of the loops is the shape's, whose lead should be the end written to; a transpose is
/// done in tiles, so that both ends use whole cache lines.
void copy_strided(const Shape& shape, End to_end, std::byte* to, const std::byte* from) noexcept;

}  // namespace gex::vis
