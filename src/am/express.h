#pragma once
// The express way of a message: a few stores into a cell of a pair ring, inline, when the message
// fits in a cell and its slot, there is room for it and no other thread is sending to that process.
//
// `threaded`: whether this is a job of mode PAR. Elsewhere nothing is called out of line, so that
// callers which test it first keep no register and store nothing.
//
// What a sender stores decides how fast it can send: each cell is a line that the other core holds,
// and the processor's store buffer is what keeps several of them in flight at once.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "am/cells.h"
#include "am/copy.h"
#include "am/links.h"
#include "am/message.h"
#include "am/token.h"
#include "base/round_up.h"

namespace gex::am {

/// The outcome of the express way.
enum class Express {
  not_sent,         ///< nothing has been done: no link, no room or a busy lock now, or no fit
  sent,             ///< it is on its way
  consumer_sleeps,  ///< it is on its way, and the caller ends with `wake_consumer`
};
constexpr bool is_sent(Express outcome) noexcept {
  return outcome != Express::not_sent;
}

namespace detail {

template <class Write>
[[gnu::always_inline]] inline Express write_cell(Outgoing& out, MessageWhat what,
                                                 Write write) noexcept {
  // `Link::open` need not be asked: room is found (find_room) in a ring that is open, so that of an
  // unopened one has none.
  if (!out.producer.has_room()) [[unlikely]]
    return Express::not_sent;
  shm::Cell* const cells = out.cells;
  const std::uint32_t index = out.producer.next() & (shm::pair_shape.cells - 1);
  write(cells[index], out.slots[index]);
  out.producer.publish(cells[index].ready, what.word);
  return shm::mark_of(cells).is_set() ? Express::consumer_sleeps : Express::sent;
}

template <class Write>
[[gnu::always_inline]] inline Express send_in_cell(Outgoing& out, MessageWhat what, bool threaded,
                                                   Write write) noexcept {
  if (!threaded) return write_cell(out, what, write);
  const BiasedLock::Hold hold = out.lock.try_lock(thread_number());
  if (!hold) [[unlikely]]
    return Express::not_sent;
  const Express outcome = write_cell(out, what, write);
  out.lock.unlock(hold);
  return outcome;
}

}  // namespace detail

/// A short message. `link` may be null. `args` as in Outbound.
[[gnu::always_inline]] inline Express express_short(Link* link, shm::Direction direction,
                                                    MessageWhat what, const gex_AM_Arg_t* args,
                                                    unsigned arg_count, bool threaded) noexcept {
  if (link == nullptr || arg_count > shm::cell_words) [[unlikely]]
    return Express::not_sent;
  return detail::send_in_cell(link->out[direction], what, threaded,
                              [=](shm::Cell& cell, shm::Slot&) {
                                copy_chunks(cell.words, args, arg_count * sizeof *args);
                              });
}

/// A medium message. `link` may be null. `args` as in Outbound.
[[gnu::always_inline]] inline Express express_medium(Link* link, shm::Direction direction,
                                                     MessageWhat what, const gex_AM_Arg_t* args,
                                                     unsigned arg_count, const void* payload,
                                                     std::size_t size, bool threaded) noexcept {
  const std::size_t before = round_up_16(arg_count * sizeof *args);
  const bool in_cell = before + size <= sizeof(shm::Cell::words);
  if (link == nullptr) [[unlikely]]
    return Express::not_sent;
  if (arg_count > shm::cell_words || size > shm::slot_bytes) [[unlikely]]
    return Express::not_sent;
  return detail::send_in_cell(
      link->out[direction], what, threaded, [=](shm::Cell& cell, shm::Slot& slot) {
        cell.size_and_slab =
            MessageHeader::make_size_and_slab(static_cast<std::uint32_t>(size), no_slab);
        copy_chunks(cell.words, args, before);
        if (in_cell)
          copy_few(reinterpret_cast<std::byte*>(cell.words) + before, payload, size);
        else
          std::memcpy(slot.bytes, payload, size);
      });
}

}  // namespace gex::am
