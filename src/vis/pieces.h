#pragma once
// How a transfer is cut into operations of the network that move several pieces of memory each.
//
// Memory that continues the piece before it belongs to that piece, so an end that is contiguous is
// one piece of an operation, however the other end is cut.
//
//   Cut cut{limits, bytes};
//   while (cut.left != 0) {
//     Pieces pieces;
//     const Cut next = take_pieces(peer, own, cut, pieces);
//     if (...there is room for an operation of `pieces`...) cut = next;
//   }
//
// Reads and writes no memory of the regions.

#include <gex/plugin/conduit.h>

#include <cstddef>

#include "vis/region.h"

namespace gex::vis {

/// Limits of one operation, at least 1 each: pieces up to `Pieces::max_pieces`.
struct PieceLimits {
  std::size_t peer_pieces;
  std::size_t own_pieces;
  std::size_t bytes;
};

/// The pieces of one operation.
struct Pieces {
  static constexpr std::size_t max_pieces = 256;  ///< even if the network takes more

  std::size_t bytes = 0;
  std::size_t peer_count = 0;
  std::size_t own_count = 0;
  net::RemotePiece peer[max_pieces];
  net::LocalPiece own[max_pieces];
};

/// How far a transfer has been cut.
struct Cut {
  PieceLimits limits;
  std::size_t left;  ///< bytes
  Cursor at_peer{};
  Cursor here{};
};

// `Region` is StridedRegion or BlockList.

/// Fills `pieces`, which are empty, with as much as one operation may have; returns the cut behind
/// it. Requires `from.left` > 0.
template <class Region>
Cut take_pieces(const Region& peer, const Region& own, const Cut& from, Pieces& pieces) noexcept;

/// Number of pieces of an end if it were not cut.
std::size_t count_pieces(const StridedRegion& region) noexcept;
std::size_t count_pieces(const BlockList& region) noexcept;

/// Lower bound of the operations that a transfer takes.
template <class Region>
std::size_t count_operations(const Region& peer, const Region& own, const Cut& whole) noexcept {
  const auto parts = [](std::size_t all, std::size_t each) noexcept {
    return all / each + (all % each != 0 ? 1 : 0);
  };
  const std::size_t at_peer = parts(count_pieces(peer), whole.limits.peer_pieces);
  const std::size_t here = parts(count_pieces(own), whole.limits.own_pieces);
  const std::size_t by_size = parts(whole.left, whole.limits.bytes);
  return at_peer > here ? (at_peer > by_size ? at_peer : by_size)
                        : (here > by_size ? here : by_size);
}

}  // namespace gex::vis
