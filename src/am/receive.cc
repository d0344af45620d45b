#include "am/receive.h"

#include <cstring>

#include "am/cell_layout.h"
#include "am/cells.h"
#include "am/copy.h"
#include "am/deliver.h"
#include "am/internal.h"
#include "am/links.h"
#include "am/set_aside.h"
#include "core/process.h"
#include "core/waiting.h"

namespace gex::am {

namespace {

/// Messages taken from one ring before the others have their turn.
constexpr unsigned drain_limit = 32;

/// A message copied out of its cell and slot.
struct Copy {
  MessageHeader header;
  std::uint32_t number;
  alignas(16) std::uint32_t words[shm::cell_words];
  alignas(16) std::byte slot[shm::slot_bytes];
  alignas(16) gex_AM_Arg_t args[max_args];
};

/// Puts the parts of the message together where the handler expects them.
Arrived assemble(Copy& copy, Incoming& in) noexcept {
  const MessageHeader& header = copy.header;
  const Category category = header.category();
  const unsigned arg_count = header.arg_count();
  const unsigned in_cell = args_in_cell(category);
  const std::uint32_t* first =
      category == Category::long_message ? copy.words + long_prefix_words : copy.words;
  Arrived arrived{header, reinterpret_cast<const gex_AM_Arg_t*>(first), nullptr, 0, &in};
  if (arg_count > in_cell) [[unlikely]] {
    std::memcpy(copy.args, first, in_cell * sizeof(gex_AM_Arg_t));
    std::memcpy(copy.args + in_cell, copy.slot, (arg_count - in_cell) * sizeof(gex_AM_Arg_t));
    arrived.args = copy.args;
  }
  if (category == Category::medium) {
    const shm::Neighborhood& neighborhood = process().neighborhood;
    arrived.size = header.size();
    if (header.slab() != no_slab)
      arrived.payload =
          neighborhood.slab(in.lane, neighborhood.local_index_of(header.source), header.slab());
    else if (place_of(arg_count, arrived.size) == Place::cell)
      arrived.payload = reinterpret_cast<std::byte*>(copy.words) + round_up_16(arg_count * 4);
    else
      arrived.payload = copy.slot + surplus_bytes(category, arg_count);
  } else if (category == Category::long_message) {
    std::uint64_t prefix[2];
    std::memcpy(prefix, copy.words, sizeof prefix);
    arrived.payload = reinterpret_cast<void*>(prefix[0]);
    arrived.size = prefix[1];
  }
  return arrived;
}

/// Delivers a message that was copied out. Returns whether a request was left without a reply.
bool deliver_copy(Copy& copy, Incoming& in) noexcept {
  const MessageHeader& header = copy.header;
  const bool unanswered = run_handler(assemble(copy, in), copy.number);
  if (header.category() == Category::medium && header.slab() != no_slab) release_slab(header, in);
  return unanswered;
}

/// Senders may wait for the room that has been published.
[[gnu::noinline, gnu::cold]] void ring_for_room(const Incoming& in) noexcept {
  if (in.to_source != nullptr)
    in.to_source->waiters->ring();
  else
    ring_neighbors();
}

/// Once a message is copied out, its cell is given back and other threads may poll, while its
/// handler runs.
[[gnu::always_inline]] inline void give_cell_back(Incoming& in, BiasedLock::Hold hold) noexcept {
  in.consumer.advance();
  if (in.consumer.shape().is_published(in.consumer.next())) [[unlikely]]
    ring_for_room(in);
  in.show_next();
  if (links().threaded()) in.lock.unlock(hold);
}

/// Copies the next message, which is there, and gives its cell back.
[[gnu::always_inline]] inline void copy_out(Copy& copy, Incoming& in, BiasedLock::Hold hold,
                                            const MessageHeader& header) noexcept {
  const std::uint32_t index = in.next_index();
  const shm::Cell& cell = in.cells[index];
  copy.header = header;
  // The cell of another message may hold what an earlier one has left there.
  if (header.category() == Category::medium) copy.header.size_and_slab = cell.size_and_slab;
  copy.number = in.consumer.next();
  std::memcpy(copy.words, cell.words, sizeof copy.words);
  const std::size_t used = used_of_slot(copy.header);
  if (used != 0) copy_chunks(copy.slot, in.slots[index].bytes, used);
  in.fetches_slots = used != 0;
  give_cell_back(in, hold);
}

/// Takes a message that is more than a short one in its cell, and delivers it.
bool deliver_by_copy(Incoming& in, BiasedLock::Hold hold, MessageHeader header) noexcept {
  Copy copy;
  copy_out(copy, in, hold, header);
  return deliver_copy(copy, in);
}

/// Finds the next message, of which it reads what a short one has of a header. Returns true, with
/// the ring's lock held in PAR, if there is one and no other thread takes it.
[[gnu::always_inline]] inline bool find_next(Incoming& in, BiasedLock::Hold& hold,
                                             MessageHeader& header) noexcept {
  const bool threaded = links().threaded();
  if (threaded && !(hold = in.lock.try_lock(thread_number()))) return false;
  const shm::Cell& cell = in.cells[in.next_index()];
  if (!in.consumer.arrived(cell.ready, header.what.word)) {
    if (threaded) in.lock.unlock(hold);
    return false;
  }
  header.source = in.to_source != nullptr ? in.source : cell.source;
  header.size_and_slab = 0;
  return true;
}

/// Takes the next message, if there is one, and runs its handler.
[[gnu::always_inline]] inline bool deliver_next(Incoming& in) noexcept {
  BiasedLock::Hold hold;
  MessageHeader header;
  if (!find_next(in, hold, header)) return false;
  const shm::Cell& cell = in.cells[in.next_index()];
  bool unanswered;
  if (header.category() == Category::short_message && header.arg_count() <= shm::cell_words)
      [[likely]] {
    alignas(16) gex_AM_Arg_t args[shm::cell_words];
    copy_chunks(args, cell.words, header.arg_count() * sizeof *args);
    const std::uint32_t number = in.consumer.next();
    give_cell_back(in, hold);
    unanswered = run_handler({header, args, nullptr, 0, &in}, number);
  } else {
    unanswered = deliver_by_copy(in, hold, header);
  }
  if (unanswered) request_unanswered(in, hold, header.source);
  return true;
}

}  // namespace

void release_slab(const MessageHeader& header, const Incoming& in) noexcept {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  shm::give_buffer_back<shm::StdAtomics>(
      neighborhood.slab_busy(in.lane, neighborhood.local_index_of(header.source), header.slab()));
  // Its owner may wait for one.
  neighborhood.waiters_bell(neighborhood.local_index_of(header.source)).ring();
}

Found serve_message(Incoming& in) noexcept {
  BiasedLock::Hold hold;
  MessageHeader header;
  if (!find_next(in, hold, header)) return Found::nothing;
  const bool is_left = runs_client_code(header.handler());
  if (is_left && room_to_leave() == 0) {
    in.lock.unlock(hold);
    return Found::blocked;
  }
  Copy copy;
  copy_out(copy, in, hold, header);
  if (is_left)
    leave_to_client(assemble(copy, in), copy.number);
  else if (deliver_copy(copy, in))
    request_unanswered(in, hold, header.source);
  return Found::delivered;
}

bool deliver_from_ring(Incoming& in) noexcept {
  unsigned taken = 0;
  while (taken < drain_limit && deliver_next(in)) ++taken;
  return taken != 0;
}

}  // namespace gex::am
