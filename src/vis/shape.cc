#include "vis/shape.h"

#include <algorithm>

namespace gex::vis {

namespace {

/// Arithmetic modulo 2^64, as of addresses.
std::ptrdiff_t times(std::ptrdiff_t stride, std::size_t count) noexcept {
  return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stride) * count);
}
std::ptrdiff_t plus(std::ptrdiff_t a, std::ptrdiff_t b) noexcept {
  return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(a) + static_cast<std::size_t>(b));
}
std::size_t magnitude(std::ptrdiff_t stride) noexcept {
  const auto bits = static_cast<std::size_t>(stride);
  return stride < 0 ? std::size_t{0} - bits : bits;
}

/// Adds an outer loop; merges it with the outermost one if it continues that on both ends. Takes
/// numbers, not a Dimension: the copy of one whose members have just been stored stalls the
/// processor, which forwards no wide load from several stores.
[[gnu::always_inline]] inline void add_outer(Shape& shape, std::size_t count, std::ptrdiff_t remote,
                                             std::ptrdiff_t local) noexcept {
  if (shape.dims == 0) {
    const auto element = static_cast<std::ptrdiff_t>(shape.element);
    if (remote == element && local == element) {
      shape.element *= count;
      return;
    }
  } else {
    Dimension& outermost = shape.dim[shape.dims - 1];
    if (remote == times(outermost.stride[remote_end], outermost.count) &&
        local == times(outermost.stride[local_end], outermost.count)) {
      outermost.count *= count;
      return;
    }
  }
  Dimension& added = shape.dim[shape.dims++];
  added.count = count;
  added.stride[remote_end] = remote;
  added.stride[local_end] = local;
}

/// Reverses a loop of one end, which is to begin at `offset`.
void invert(std::ptrdiff_t& offset, std::ptrdiff_t& stride, std::size_t count) noexcept {
  offset = plus(offset, times(stride, count - 1));
  stride = times(stride, ~std::size_t{0});
}

bool is_inside(const Dimension& a, const Dimension& b, End lead) noexcept {
  if (a.stride[lead] != b.stride[lead]) return a.stride[lead] < b.stride[lead];
  const End follower = other(lead);
  return magnitude(a.stride[follower]) < magnitude(b.stride[follower]);
}

/// Few dimensions, mostly in order or in reverse order.
void sort(Shape& shape, End lead) noexcept {
  Dimension* const first = shape.dim;
  if (is_inside(first[shape.dims - 1], first[0], lead)) std::reverse(first, first + shape.dims);
  for (unsigned i = 1; i < shape.dims; ++i) {
    if (!is_inside(first[i], first[i - 1], lead)) continue;
    const Dimension moved = first[i];
    unsigned to = i;
    for (; to > 0 && is_inside(moved, first[to - 1], lead); --to) first[to] = first[to - 1];
    first[to] = moved;
  }
}

void fold(Shape& shape) noexcept {
  const unsigned dims = shape.dims;
  shape.dims = 0;
  for (unsigned i = 0; i < dims; ++i) {
    const Dimension& next = shape.dim[i];
    add_outer(shape, next.count, next.stride[remote_end], next.stride[local_end]);
  }
}

}  // namespace

std::ptrdiff_t Shape::place(End end, std::size_t index) const noexcept {
  std::ptrdiff_t at = 0;
  for (unsigned i = 0; i < dims; ++i) {
    at = plus(at, times(dim[i].stride[end], index % dim[i].count));
    index /= dim[i].count;
  }
  return at;
}

void copy_shape(Shape& to, const Shape& from) noexcept {
  to.element = from.element;
  to.elements = from.elements;
  to.dims = from.dims;
  std::copy_n(from.offset, 2, to.offset);
  std::copy_n(from.dim, from.dims, to.dim);
}

bool make_shape(Shape& shape, std::size_t element, const std::size_t* count,
                const std::ptrdiff_t* remote_strides, const std::ptrdiff_t* local_strides,
                std::size_t levels, End lead) noexcept {
  shape.element = element;
  shape.elements = 1;
  shape.dims = 0;
  shape.offset[remote_end] = shape.offset[local_end] = 0;
  if (element == 0) return true;
  bool too_large = false;
  std::size_t bytes = element;
  for (std::size_t i = 0; i < levels; ++i) {
    if (count[i] == 0) {
      shape.element = 0;
      shape.dims = 0;
      return true;
    }
    if (count[i] == 1) continue;
    // A later count may be 0, so this does not fail yet; but no more loops are added.
    too_large = too_large || __builtin_mul_overflow(bytes, count[i], &bytes);
    if (too_large) continue;
    std::ptrdiff_t remote = remote_strides[i];
    std::ptrdiff_t local = local_strides[i];
    if ((lead == remote_end ? remote : local) < 0) {
      invert(shape.offset[remote_end], remote, count[i]);
      invert(shape.offset[local_end], local, count[i]);
    }
    add_outer(shape, count[i], remote, local);
  }
  if (too_large) return false;
  if (shape.dims > 1) {
    sort(shape, lead);
    fold(shape);
  }
  for (unsigned i = 0; i < shape.dims; ++i) shape.elements *= shape.dim[i].count;
  return true;
}

}  // namespace gex::vis
