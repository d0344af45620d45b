#pragma once
// How a part of a peer's region is described in a message, and how that is validated.
//
// A part of a strided region is a shape of as few dimensions as the part spans, a part of a list is
// that piece of the list, and if it is one of addresses with lengths, neighbors are joined. A
// message has room for its description and, where it carries it, for the part's data.

#include <cstddef>
#include <cstdint>

#include "core/completion.h"
#include "core/memory.h"
#include "vis/region.h"

namespace gex::vis {

enum class Layout : std::uint32_t { strided, indexed, vector };

/// A part may have so many bytes. Those of a put travel together; of a get the description is in
/// the request, the data in the reply.
struct Room {
  std::size_t description;
  std::size_t data;
  std::size_t both;
};

/// A part that has been described.
struct Part {
  Layout layout;
  std::uint32_t entries;          ///< dimensions, or blocks
  std::size_t description_bytes;  ///< a multiple of 8
  std::size_t data_bytes;         ///< never 0
};

/// Upper bound of a description of the whole region, in bytes.
std::size_t max_description_bytes(const StridedRegion& region) noexcept;
std::size_t max_description_bytes(const BlockList& region) noexcept;

/// Describes as much from the cursor on as there is room for, at most `bytes`, and moves the cursor
/// behind it. `out` is aligned to 8. There is room for 512 bytes at least, or for `bytes` and the
/// description of the whole.
Part describe(const StridedRegion& region, Cursor& cursor, std::size_t bytes, const Room& room,
              std::byte* out) noexcept;
Part describe(const BlockList& region, Cursor& cursor, std::size_t bytes, const Room& room,
              std::byte* out) noexcept;

/// A part that its owner reads from a message. Refers to the message and to itself.
class Described {
 public:
  /// Reads the description at the beginning of `message`; `description_bytes` receives its
  /// length. False if it is malformed.
  bool read(std::uint32_t layout, std::uint32_t entries, std::byte* message, std::size_t size,
            std::size_t& description_bytes) noexcept;
  Described() = default;
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  /// Calls `inside(address, bytes)` for ranges that cover the first `bytes` of the part; false if
  /// it is false for one, or if the part has fewer bytes.
  template <class Inside>
  bool lies_within(std::size_t bytes, Inside inside) const noexcept;

  void gather(std::size_t bytes, std::byte* to) const noexcept;
  void scatter(std::size_t bytes, const std::byte* from) const noexcept;

  /// Begin to gather and to scatter where the part is memory of `kind` (by_kind.h).
  std::uint32_t begin_gather(const MemoryKind& kind, std::size_t bytes, std::byte* to,
                             CompletionTarget done) const noexcept;
  std::uint32_t begin_scatter(const MemoryKind& kind, std::size_t bytes, const std::byte* from,
                              CompletionTarget done) const noexcept;

 private:
  bool read_strided(std::uint32_t dims, const std::byte* message, std::size_t size,
                    std::size_t& description_bytes) noexcept;
  bool strided_holds(std::size_t bytes) const noexcept;
  /// False if that is beyond the last address: a message may have any number there.
  template <class Distance>
  static bool move(const std::byte*& address, Distance by) noexcept {
    auto number = reinterpret_cast<std::uintptr_t>(address);
    if (__builtin_add_overflow(number, by, &number)) return false;
    address = reinterpret_cast<const std::byte*>(number);
    return true;
  }

  Layout layout_ = Layout::strided;
  Cursor start_;
  Shape shape_;
  std::byte* first_ = nullptr;
  BlockList list_{nullptr, 0};
};

template <class Inside>
bool Described::lies_within(std::size_t bytes, Inside inside) const noexcept {
  if (layout_ == Layout::strided) {
    Extent extent;
    const std::byte* lowest = first_;
    return strided_holds(bytes) && extent_of(shape_, remote_end, extent) &&
           move(lowest, extent.start) && inside(lowest, extent.bytes);
  }
  std::size_t offset = start_.offset;
  for (std::size_t i = 0; bytes != 0; ++i, offset = 0) {
    if (i == list_.count() || offset > list_.length(i)) return false;
    const std::size_t left = list_.length(i) - offset;
    const std::size_t here = left < bytes ? left : bytes;
    const std::byte* start = list_.address(i);
    if (here != 0 && !(move(start, offset) && inside(start, here))) return false;
    bytes -= here;
  }
  return true;
}

}  // namespace gex::vis
