#include "vis/pieces.h"

#include <algorithm>
#include <cstdint>

namespace gex::vis {

namespace {

/// Contiguous memory.
struct Run {
  std::byte* start;
  std::size_t bytes;
};

/// The rest of the block at the cursor, which is not at the end of the region.
Run run_at(const StridedRegion& region, const Cursor& cursor) noexcept {
  return {region.first + region.shape->place(region.end, cursor.block) + cursor.offset,
          region.shape->element - cursor.offset};
}
Run run_at(const BlockList& region, Cursor& cursor) noexcept {
  advance(region, cursor, 0);
  return {region.address(cursor.block) + cursor.offset,
          region.length(cursor.block) - cursor.offset};
}

bool continues(const net::LocalPiece& piece, const Run& run) noexcept {
  return static_cast<std::byte*>(piece.data) + piece.size == run.start;
}
bool continues(const net::RemotePiece& piece, const Run& run) noexcept {
  return piece.address + piece.size == reinterpret_cast<std::uintptr_t>(run.start);
}

}  // namespace

template <class Region>
Cut take_pieces(const Region& remote, const Region& local, const Cut& from,
                Pieces& pieces) noexcept {
  Cut cut = from;
  std::size_t room = std::min(cut.left, cut.limits.bytes);
  while (room != 0) {
    const Run remote_run = run_at(remote, cut.at_remote);
    const Run local_run = run_at(local, cut.at_local);
    const std::size_t bytes = std::min({remote_run.bytes, local_run.bytes, room});
    const bool new_remote =
        pieces.remote_count == 0 || !continues(pieces.remote[pieces.remote_count - 1], remote_run);
    const bool new_local =
        pieces.local_count == 0 || !continues(pieces.local[pieces.local_count - 1], local_run);
    if ((new_remote && pieces.remote_count == cut.limits.remote_pieces) ||
        (new_local && pieces.local_count == cut.limits.local_pieces))
      break;
    if (new_remote)
      pieces.remote[pieces.remote_count++] = {reinterpret_cast<std::uintptr_t>(remote_run.start),
                                              0};
    if (new_local) pieces.local[pieces.local_count++] = {local_run.start, 0};
    pieces.remote[pieces.remote_count - 1].size += bytes;
    pieces.local[pieces.local_count - 1].size += bytes;
    advance(remote, cut.at_remote, bytes);
    advance(local, cut.at_local, bytes);
    pieces.bytes += bytes;
    room -= bytes;
  }
  cut.left -= pieces.bytes;
  return cut;
}

template Cut take_pieces(const StridedRegion&, const StridedRegion&, const Cut&, Pieces&) noexcept;
template Cut take_pieces(const BlockList&, const BlockList&, const Cut&, Pieces&) noexcept;

std::size_t count_pieces(const StridedRegion& region) noexcept {
  const Shape& shape = *region.shape;
  std::size_t run = shape.element;
  for (unsigned i = 0; i < shape.dims; ++i) {
    if (shape.dim[i].stride[region.end] != static_cast<std::ptrdiff_t>(run)) break;
    run *= shape.dim[i].count;
  }
  return shape.bytes() / run;
}

std::size_t count_pieces(const BlockList& region) noexcept {
  std::size_t pieces = 0;
  const std::byte* end = nullptr;
  for (std::size_t i = 0; i < region.count(); ++i) {
    const std::size_t length = region.length(i);
    if (length == 0) continue;
    if (region.address(i) != end) ++pieces;
    end = region.address(i) + length;
  }
  return pieces;
}

}  // namespace gex::vis
