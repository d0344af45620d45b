#pragma once
// Where the parts of a message lie in a cell and its slot.
//
// A short message of up to 12 arguments is the whole cell. What the 12 words hold:
//   short   arguments
//   medium  arguments, then at the next multiple of 16 bytes the payload, if both fit
//   long    destination address, byte count (4 words), then up to 8 arguments
// What does not fit goes to the slot: surplus arguments first, then (at a multiple of 16) a payload
// that fits; larger ones travel in a slab.

#include <algorithm>
#include <cstddef>

#include "am/message.h"
#include "base/round_up.h"
#include "shm/cell.h"

namespace gex::am {

inline constexpr unsigned long_prefix_words = 4;

/// Arguments that fit in the cell of a message of that category.
constexpr unsigned args_in_cell(Category category) noexcept {
  return category == Category::long_message ? shm::cell_words - long_prefix_words : shm::cell_words;
}
/// Bytes of the slot that surplus arguments take.
constexpr std::size_t surplus_bytes(Category category, unsigned args) noexcept {
  const unsigned room = args_in_cell(category);
  return args > room ? (args - room + 3) / 4 * 16 : 0;
}

/// Where a medium's payload travels.
enum class Place { cell, slot, slab };
constexpr Place place_of(unsigned args, std::size_t bytes) noexcept {
  if (round_up_16(args * 4) + bytes <= shm::cell_words * 4) return Place::cell;
  if (surplus_bytes(Category::medium, args) + bytes <= shm::slot_bytes) return Place::slot;
  return Place::slab;
}

/// Returns the bytes that a message uses of its slot: surplus arguments, and a payload that is
/// there.
inline std::size_t used_of_slot(const MessageHeader& header) noexcept {
  const std::size_t surplus = surplus_bytes(header.category(), header.arg_count());
  const bool payload = header.category() == Category::medium && header.slab() == no_slab &&
                       place_of(header.arg_count(), header.size()) == Place::slot;
  return std::min(surplus + (payload ? header.size() : 0), shm::slot_bytes);
}

}  // namespace gex::am
