#include "vis/by_kind.h"

#include <algorithm>
#include <cstdint>

namespace gex::vis {

namespace {

/// Drivers copy rows that are at most so far apart.
constexpr std::ptrdiff_t max_stride = std::ptrdiff_t{1} << 30;

/// Returns true if the innermost loop is one copy of rows at both ends.
bool has_rows(const Shape& shape) noexcept {
  const auto fits = [&](std::ptrdiff_t stride) {
    return stride >= static_cast<std::ptrdiff_t>(shape.element) && stride <= max_stride;
  };
  return shape.dims != 0 && fits(shape.dim[0].stride[peer_end]) &&
         fits(shape.dim[0].stride[own_end]);
}

}  // namespace

Injected copy_strided_by_kind(const MemoryKind& kind, const Shape& shape, End to_end, std::byte* to,
                              const std::byte* from, const Targets& targets) noexcept {
  const End from_end = to_end == peer_end ? own_end : peer_end;
  const bool by_rows = has_rows(shape);
  const std::size_t at_once = by_rows ? shape.dim[0].count : 1;
  std::uint32_t parts = 0;
  for (std::size_t i = 0; i < shape.elements; i += at_once, ++parts) {
    std::byte* const out = to + shape.place(to_end, i);
    const std::byte* const in = from + shape.place(from_end, i);
    if (by_rows)
      kind.begin_copy_rows({.to = out,
                            .to_stride = static_cast<std::size_t>(shape.dim[0].stride[to_end]),
                            .from = in,
                            .from_stride = static_cast<std::size_t>(shape.dim[0].stride[from_end]),
                            .width = shape.element,
                            .count = at_once},
                           targets.done, targets.local);
    else
      kind.begin_copy(out, in, shape.element, targets.done, targets.local);
  }
  return {parts, /*source_in_use=*/true};
}

Injected copy_lists_by_kind(const MemoryKind& kind, const BlockList& to, std::ptrdiff_t to_shift,
                            const BlockList& from, std::ptrdiff_t from_shift,
                            const Targets& targets) noexcept {
  std::uint32_t parts = 0;
  Cursor out;
  Cursor in;
  for (;;) {
    while (out.block < to.count() && out.offset == to.length(out.block)) out = {out.block + 1, 0};
    while (in.block < from.count() && in.offset == from.length(in.block)) in = {in.block + 1, 0};
    if (out.block == to.count() || in.block == from.count()) break;
    const std::size_t bytes =
        std::min(to.length(out.block) - out.offset, from.length(in.block) - in.offset);
    kind.begin_copy(to.address(out.block) + to_shift + out.offset,
                    from.address(in.block) + from_shift + in.offset, bytes, targets.done,
                    targets.local);
    out.offset += bytes;
    in.offset += bytes;
    ++parts;
  }
  return {parts, /*source_in_use=*/true};
}

}  // namespace gex::vis
