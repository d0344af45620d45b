#pragma once
// Sending to a process of the neighborhood.

#include <cstring>

#include "am/links.h"
#include "am/outbound.h"

namespace gex::am {

/// Copies arguments in whole 16-byte chunks, as they were gathered.
inline void copy_args(void* to, const gex_AM_Arg_t* args, unsigned count) noexcept {
  auto* at = static_cast<std::byte*>(to);
  for (unsigned i = 0; i < count; i += 4)
    std::memcpy(at + i * sizeof *args, args + i, 4 * sizeof *args);
}

/// The header of a message of this process.
[[gnu::always_inline]] inline MessageHeader header_of(const Outbound& message) noexcept {
  MessageHeader header;
  header.source = gex_proc_.jobrank;
  header.handler = message.handler;
  header.kind = MessageHeader::make_kind(message.category, message.reply, message.arg_count);
  header.endpoints = message.endpoints;
  header.size_buffer = MessageHeader::make_size_buffer(
      message.category == Category::medium ? static_cast<std::uint32_t>(message.size) : 0,
      message.slab);
  return header;
}

/// The shortest way, for what fits in a cell of a pair ring: a short message of up to 12 arguments,
/// or a medium whose payload goes beside its arguments. False if there is no room now.
[[gnu::always_inline]] inline bool try_send_in_cell(Link& link, shm::Direction direction,
                                                    const Outbound& message) noexcept {
  Links& all = links();
  SpinLock& lock = link.out[direction].lock;
  const bool threaded = all.threaded();
  if (threaded) lock.lock();
  Claim claim;
  const bool claimed = all.claim(link, direction, claim);
  if (claimed) [[likely]] {
    shm::Cell& cell = *claim.cell;
    cell.header = header_of(message);
    copy_args(cell.words, message.args, message.arg_count);
    if (message.size != 0)
      std::memcpy(
          reinterpret_cast<std::byte*>(cell.words) + shm::round_up_16(message.arg_count * 4),
          message.payload, message.size);
    all.publish(link, direction, claim);
  }
  if (threaded) lock.unlock();
  return claimed;
}

/// Whether try_send_in_cell may be used.
inline bool fits_in_cell(const Outbound& message) noexcept {
  if (!links().pairs()) return false;
  if (message.category == Category::short_message) return message.arg_count <= shm::cell_words;
  return message.category == Category::medium && message.slab == no_slab &&
         shm::place_of(message.arg_count, message.size) == shm::Place::cell;
}

/// Sends if there is room now; false if not, with nothing done.
bool try_send_local(Link& link, const Outbound& message, bool immediate) noexcept;

/// Sends a reply, whose cell is reserved. A payload that finds no slab is kept in memory of this
/// process, bounded by the requests the requester may have open, until one is free.
void send_reply_local(Link& link, const Outbound& message) noexcept;

/// True while replies are kept.
extern std::atomic<bool> any_kept;
/// Sends kept replies for which there is a slab now. Returns true if it sent any.
bool flush_kept_replies() noexcept;

}  // namespace gex::am
