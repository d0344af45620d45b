#pragma once
// The cell: one cache line that carries one active message between two processes of a host.
//
// A short message is the whole cell, and its arrival is one line transfer: the ready word is in the
// line. Payload never shares a word with it. Each cell has a slot, a companion of 256 bytes for
// what does not fit. am/cell_layout.h describes what lies where in the two.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"

namespace gex::shm {

inline constexpr unsigned cell_words = 12;
inline constexpr std::size_t slot_bytes = 256;

struct alignas(cache_line) Cell {
  /// Sequence number of the message + 1 once it has arrived, and above it 32 bits of the message's
  /// header: a short message without arguments is one store.
  std::atomic<std::uint64_t> ready;
  std::uint32_t source;         ///< shared rings only: a pair ring has one source
  std::uint32_t size_and_slab;  ///< mediums only
  alignas(16) std::uint32_t words[cell_words];
};
static_assert(sizeof(Cell) == cache_line && offsetof(Cell, words) == 16);

struct alignas(cache_line) Slot {
  std::byte bytes[slot_bytes];
};

}  // namespace gex::shm
