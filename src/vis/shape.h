#pragma once
// The shape of a strided transfer, and the optimizer that rewrites it.
//
// A shape describes where the elements of both ends lie, as a nest of loops. Clients describe the
// same transfer in many ways; `make_shape` rewrites theirs into the one with the fewest and longest
// loops. It takes the four steps of the GASNet-EX stride optimizer, on both ends' strides together:
//
//   null dimensions  a loop of one turn is left out
//   inversion        a loop in which one end (the lead) descends is reversed
//   sort             loops are ordered so that the lead's strides grow outwards
//   folding          a loop that continues the one inside it on both ends is merged with it, or
//                    with the element
//
// A pure function: it does not access the memory that the shape describes.
//
//   Shape shape;
//   if (!make_shape(shape, 8, count, remote_strides, local_strides, 3, remote_end)) ...too large...
//   for each element i:  remote + shape.offset[remote_end] + shape.place(remote_end, i)

#include <cstddef>
#include <cstdint>

namespace gex::vis {

/// The two ends of a transfer.
enum End : unsigned { remote_end = 0, local_end = 1 };
constexpr End other(End end) noexcept {
  return end == remote_end ? local_end : remote_end;
}

struct Dimension {
  std::size_t count;
  std::ptrdiff_t stride[2];  ///< bytes, by End
};

/// The elements of more loops, of at least two turns each, cannot be counted in 64 bits, so a shape
/// with more dimensions is refused whatever its strides.
inline constexpr unsigned max_dims = 64;

struct Shape {
  std::size_t element;       ///< contiguous bytes; 0: the transfer is empty
  std::size_t elements;      ///< product of all counts
  unsigned dims;             ///< valid entries of dim
  std::ptrdiff_t offset[2];  ///< of the first element, from the address that the client passed
  Dimension dim[max_dims];   ///< innermost first

  std::size_t bytes() const noexcept { return element * elements; }

  /// Where element `index` of the loops' order is, from the first element.
  std::ptrdiff_t place(End end, std::size_t index) const noexcept;
};

/// Copies the valid entries.
void copy_shape(Shape& to, const Shape& from) noexcept;

/// Makes the optimized shape of the transfer whose element `i0, i1, ...` is at the sum of
/// `i_k * strides[k]` of each end; `levels` entries in each array. `lead` is the end whose strides
/// come out non-negative and sorted. False if the number of bytes overflows.
bool make_shape(Shape& shape, std::size_t element, const std::size_t* count,
                const std::ptrdiff_t* remote_strides, const std::ptrdiff_t* local_strides,
                std::size_t levels, End lead) noexcept;

/// The bytes between the lowest and the highest that one end touches.
struct Extent {
  std::ptrdiff_t start;  ///< from the first element
  std::size_t bytes;
};
/// False if that does not fit in an address space.
inline bool extent_of(const Shape& shape, End end, Extent& extent) noexcept {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  for (unsigned i = 0; i < shape.dims; ++i) {
    std::ptrdiff_t span = 0;
    if (__builtin_mul_overflow(shape.dim[i].stride[end], shape.dim[i].count - 1, &span))
      return false;
    const bool fits = span < 0 ? !__builtin_add_overflow(low, span, &low)
                               : !__builtin_add_overflow(high, span, &high);
    if (!fits) return false;
  }
  extent.start = low;
  if (__builtin_sub_overflow(high, low, &extent.bytes)) return false;
  return !__builtin_add_overflow(extent.bytes, shape.element, &extent.bytes);
}

}  // namespace gex::vis
