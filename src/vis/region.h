#pragma once
// One end of a transfer: a sequence of blocks of memory, strided or listed.
//
// Both forms are walked with a cursor, from any block and any byte in it, so that a transfer can be
// cut into messages that are packed and unpacked independently of one another.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "vis/shape.h"

namespace gex::vis {

/// A place in a sequence of blocks: that of its next byte. It may also be at the end of a block, or
/// in one of no bytes, if a later one has that byte; `advance` leaves it in the block that has it.
struct Cursor {
  std::uint64_t block = 0;
  std::uint64_t offset = 0;  ///< in that block
};

/// Blocks at the offsets of a shape. `first` is the first element's address, which of the remote
/// end is one in the peer, not to be read here.
struct StridedRegion {
  const Shape* shape;
  End end;
  std::byte* first;
};

/// Blocks given by a list, the client's or a message's: addresses of blocks of one length, or
/// addresses with lengths.
class BlockList {
 public:
  BlockList(void* const* addresses, std::size_t count, std::size_t length) noexcept
      : addresses_(addresses), count_(count), length_(length) {}
  BlockList(const gex_Memvec_t* blocks, std::size_t count) noexcept
      : blocks_(blocks), count_(count) {}

  std::size_t count() const noexcept { return count_; }
  /// Returns true if all blocks have one length, and that length.
  bool is_indexed() const noexcept { return blocks_ == nullptr; }
  std::size_t length() const noexcept { return length_; }
  /// Requires an indexed list.
  void* const* addresses() const noexcept { return addresses_; }

  std::byte* address(std::size_t i) const noexcept {
    return static_cast<std::byte*>(is_indexed() ? addresses_[i] : blocks_[i].gex_addr);
  }
  std::size_t length(std::size_t i) const noexcept {
    return is_indexed() ? length_ : blocks_[i].gex_len;
  }

  /// Bytes of all blocks; false if they are more than can be counted.
  bool total(std::size_t& bytes) const noexcept {
    if (is_indexed()) return !__builtin_mul_overflow(count_, length_, &bytes);
    bytes = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (__builtin_add_overflow(bytes, blocks_[i].gex_len, &bytes)) return false;
    return true;
  }

 private:
  void* const* addresses_ = nullptr;
  const gex_Memvec_t* blocks_ = nullptr;
  std::size_t count_;
  std::size_t length_ = 0;
};

/// Moves a cursor forward without touching the blocks' memory.
inline void advance(const StridedRegion& region, Cursor& cursor, std::size_t bytes) noexcept {
  const std::size_t end = cursor.offset + bytes;
  cursor = {cursor.block + end / region.shape->element, end % region.shape->element};
}
inline void advance(const BlockList& region, Cursor& cursor, std::size_t bytes) noexcept {
  cursor.offset += bytes;
  while (cursor.block < region.count() && cursor.offset >= region.length(cursor.block))
    cursor = {cursor.block + 1, cursor.offset - region.length(cursor.block)};
}

}  // namespace gex::vis
