#pragma once
// The shortest way for a message: a few stores into a cell of a pair ring, inline, when the message
// fits in a cell and its slot, there is room for it and no other thread is sending to that process.
// The functions return false, with nothing done, when the message must go the way of outbound.h.
//
// What a sender stores decides how fast it can send: each cell is a line that the other core holds,
// and the processor's store buffer is what keeps several of them under way at once.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "am/copy.h"
#include "am/links.h"
#include "am/message.h"
#include "am/token.h"
#include "base/round_up.h"

namespace gex::am {

namespace detail {

/// Calls nothing out of line, so that its callers keep no register and store nothing for it.
template <class Write>
[[gnu::always_inline]] inline bool send_in_cell(Outgoing& out, std::uint32_t what,
                                                Write write) noexcept {
  const bool threaded = links().threaded();
  if (threaded && !out.lock.try_lock()) [[unlikely]]
    return false;
  const bool room = out.producer.has_room();
  if (room) [[likely]] {
    const std::uint32_t index = out.producer.next() & (shm::pair_shape.cells - 1);
    write(out.cells[index], out.slots[index]);
    out.producer.publish(out.cells[index].ready, what);
  }
  if (threaded) out.lock.unlock();
  return room;
}

}  // namespace detail

/// A short message. `link` may be null. `args` as in Outbound.
[[gnu::always_inline]] inline bool send_short(Link* link, shm::Direction direction,
                                              std::uint32_t what, const gex_AM_Arg_t* args,
                                              unsigned arg_count) noexcept {
  if (link == nullptr || arg_count > shm::cell_words) [[unlikely]]
    return false;
  return detail::send_in_cell(link->out[direction], what, [=](shm::Cell& cell, shm::Slot&) {
    copy_chunks(cell.words, args, arg_count * sizeof *args);
  });
}

/// A medium message.
[[gnu::always_inline]] inline bool send_medium(Link* link, shm::Direction direction,
                                               std::uint32_t what, const gex_AM_Arg_t* args,
                                               unsigned arg_count, const void* payload,
                                               std::size_t size) noexcept {
  const std::size_t before = round_up_16(arg_count * sizeof *args);
  const bool in_cell = before + size <= sizeof(shm::Cell::words);
  if (link == nullptr || arg_count > shm::cell_words || size > shm::slot_bytes) [[unlikely]]
    return false;
  return detail::send_in_cell(link->out[direction], what, [=](shm::Cell& cell, shm::Slot& slot) {
    cell.size_buffer = MessageHeader::make_size_buffer(static_cast<std::uint32_t>(size), no_slab);
    copy_chunks(cell.words, args, before);
    if (in_cell)
      copy_few(reinterpret_cast<std::byte*>(cell.words) + before, payload, size);
    else
      std::memcpy(slot.bytes, payload, size);
  });
}

/// Whether a request may find room now: what an immediate one asks first when the shortest way was
/// not open.
bool may_have_room(gex_Rank_t jobrank) noexcept;

}  // namespace gex::am
