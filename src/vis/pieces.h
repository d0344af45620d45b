#pragma once
// How a transfer is cut into operations of the network that move several pieces of memory each.
//
// Memory that continues the piece before it belongs to that piece, so an end that is contiguous is
// one piece of an operation, however the other end is cut.
//
//   Cut cut{limits, bytes};
//   while (cut.left != 0) {
//     Pieces pieces;
//     const Cut next = take_pieces(remote, local, cut, pieces);
//     if (...there is room for an operation of `pieces`...) cut = next;
//   }
//
// Reads and writes no memory of the regions.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <cstddef>

#include "base/round_up.h"
#include "vis/region.h"

namespace gex::vis {

/// Limits of one operation, at least 1 each: pieces up to `Pieces::max_pieces`.
struct PieceLimits {
  std::size_t remote_pieces;
  std::size_t local_pieces;
  std::size_t bytes;
};

/// The pieces of one operation.
struct Pieces {
  static constexpr std::size_t max_pieces = 256;  ///< even if the network takes more

  std::size_t bytes = 0;
  std::size_t remote_count = 0;
  std::size_t local_count = 0;
  net::RemotePiece remote[max_pieces];
  net::LocalPiece local[max_pieces];
};

/// How far a transfer has been cut.
struct Cut {
  PieceLimits limits;
  std::size_t left;  ///< bytes
  Cursor at_remote{};
  Cursor at_local{};
};

// `Region` is StridedRegion or BlockList.

/// Fills `pieces`, which are empty, with as much as one operation may have; returns the cut behind
/// it. Requires `from.left` > 0.
template <class Region>
Cut take_pieces(const Region& remote, const Region& local, const Cut& from,
                Pieces& pieces) noexcept;

/// Number of pieces of an end if it were not cut.
std::size_t count_pieces(const StridedRegion& region) noexcept;
std::size_t count_pieces(const BlockList& region) noexcept;

/// Numbers of pieces of both ends if neither were cut.
struct PieceCounts {
  std::size_t remote;
  std::size_t local;

  bool is_contiguous() const noexcept { return remote == 1 && local == 1; }
};
template <class Region>
PieceCounts count_pieces(const Region& remote, const Region& local) noexcept {
  return {count_pieces(remote), count_pieces(local)};
}

/// Lower bound of the operations that a transfer of `bytes` takes.
inline std::size_t min_operations(const PieceCounts& pieces, const PieceLimits& limits,
                                  std::size_t bytes) noexcept {
  return std::max<std::size_t>({quotient_up(pieces.remote, limits.remote_pieces),
                                quotient_up(pieces.local, limits.local_pieces),
                                quotient_up(bytes, limits.bytes)});
}

}  // namespace gex::vis
