#pragma once
// The cell: one cache line that carries one active message between two processes of a host.
//
// A short message of up to 12 arguments is the whole cell, and its arrival is one line transfer:
// the ready word is in the line. Payload never shares a word with it. What the 12 words hold:
//   short   arguments
//   medium  arguments, then at the next multiple of 16 bytes the payload, if both fit
//   long    destination address, byte count (4 words), then up to 8 arguments
// What does not fit goes to the slot, the cell's companion of 256 bytes: surplus arguments first,
// then (at a multiple of 16) a payload that fits; larger ones travel in a slab.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"
#include "base/round_up.h"
#include "shm/message.h"

namespace gex::shm {

inline constexpr unsigned cell_words = 12;
inline constexpr unsigned long_prefix_words = 4;
inline constexpr std::size_t slot_bytes = 256;

struct alignas(cache_line) Cell {
  /// Sequence number of the message + 1 once it is there, and above it MessageHeader::what: a short
  /// message without arguments is one store.
  std::atomic<std::uint64_t> ready;
  std::uint32_t source;       ///< shared rings only: a pair ring has one source
  std::uint32_t size_buffer;  ///< mediums only
  alignas(16) std::uint32_t words[cell_words];
};
static_assert(sizeof(Cell) == cache_line && offsetof(Cell, words) == 16);

struct alignas(cache_line) Slot {
  std::byte bytes[slot_bytes];
};

/// Arguments that fit in the cell of a message of that category.
constexpr unsigned args_in_cell(Category category) noexcept {
  return category == Category::long_message ? cell_words - long_prefix_words : cell_words;
}
/// Bytes of the slot that surplus arguments take.
constexpr std::size_t surplus_bytes(Category category, unsigned args) noexcept {
  const unsigned room = args_in_cell(category);
  return args > room ? (args - room + 3) / 4 * 16 : 0;
}

/// Where a medium's payload travels.
enum class Place { cell, slot, slab };
constexpr Place place_of(unsigned args, std::size_t bytes) noexcept {
  if (round_up_16(args * 4) + bytes <= cell_words * 4) return Place::cell;
  if (surplus_bytes(Category::medium, args) + bytes <= slot_bytes) return Place::slot;
  return Place::slab;
}

}  // namespace gex::shm
