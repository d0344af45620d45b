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
  while (cursor.offset == region.length(cursor.block)) cursor = {cursor.block + 1, 0};
  return {region.address(cursor.block) + cursor.offset,
          region.length(cursor.block) - cursor.offset};
}

/// Moves the cursor within its block, and from the block's end to the next block.
void move(const StridedRegion& region, Cursor& cursor, std::size_t bytes) noexcept {
  cursor.offset += bytes;
  if (cursor.offset == region.shape->element) cursor = {cursor.block + 1, 0};
}
void move(const BlockList&, Cursor& cursor, std::size_t bytes) noexcept {
  cursor.offset += bytes;
}

bool continues(const net::LocalPiece& piece, const Run& run) noexcept {
  return static_cast<std::byte*>(piece.data) + piece.size == run.start;
}
bool continues(const net::RemotePiece& piece, const Run& run) noexcept {
  return piece.address + piece.size == reinterpret_cast<std::uintptr_t>(run.start);
}

}  // namespace

template <class Region>
Cut take_pieces(const Region& peer, const Region& own, const Cut& from, Pieces& pieces) noexcept {
  Cut cut = from;
  std::size_t room = std::min(cut.left, cut.limits.bytes);
  while (room != 0) {
    const Run there = run_at(peer, cut.at_peer);
    const Run here = run_at(own, cut.here);
    const std::size_t bytes = std::min({there.bytes, here.bytes, room});
    const bool new_there =
        pieces.peer_count == 0 || !continues(pieces.peer[pieces.peer_count - 1], there);
    const bool new_here =
        pieces.own_count == 0 || !continues(pieces.own[pieces.own_count - 1], here);
    if ((new_there && pieces.peer_count == cut.limits.peer_pieces) ||
        (new_here && pieces.own_count == cut.limits.own_pieces))
      break;
    if (new_there)
      pieces.peer[pieces.peer_count++] = {reinterpret_cast<std::uintptr_t>(there.start), 0};
    if (new_here) pieces.own[pieces.own_count++] = {here.start, 0};
    pieces.peer[pieces.peer_count - 1].size += bytes;
    pieces.own[pieces.own_count - 1].size += bytes;
    move(peer, cut.at_peer, bytes);
    move(own, cut.here, bytes);
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
