#pragma once
// A message in several places: its bytes together, and written one behind another.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace gex::net {

inline std::size_t size_of(std::span<const Piece> pieces) noexcept {
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  return size;
}

/// Writes the pieces; returns the end.
inline std::byte* gather(std::byte* out, std::span<const Piece> pieces) noexcept {
  for (const Piece& piece : pieces) {
    if (piece.size != 0) std::memcpy(out, piece.data, piece.size);
    out += piece.size;
  }
  return out;
}

}  // namespace gex::net
