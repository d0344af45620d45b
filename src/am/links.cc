#include "am/links.h"

#include <algorithm>
#include <cstring>

#include "am/deliver.h"
#include "base/error.h"
#include "core/published.h"

namespace gex::am {

namespace {

/// Messages taken from one ring before the others have their turn.
constexpr unsigned drain_limit = 32;

using shm::Cell;
using shm::Slot;

}  // namespace

/// A message copied out of its cell and slot.
struct Links::Copy {
  MessageHeader header;
  alignas(16) std::uint32_t words[shm::cell_words];
  alignas(16) std::byte slot[shm::slot_bytes];
  alignas(16) gex_AM_Arg_t args[max_args];
};

/// Copies what the message uses of its cell and slot; afterwards the cell may be given back.
inline void Links::copy_out(const Cell& cell, const Slot& slot, Copy& copy) noexcept {
  copy.header = cell.header;
  std::memcpy(copy.words, cell.words, sizeof copy.words);
  const MessageHeader& header = copy.header;
  const Category category = header.category();
  if (category == Category::short_message && header.arg_count() <= shm::cell_words) [[likely]]
    return;
  std::size_t used = shm::surplus_bytes(category, header.arg_count());
  if (category == Category::medium && header.slab() == no_slab &&
      shm::place_of(header.arg_count(), header.size()) == shm::Place::slot)
    used += header.size();
  if (used != 0) std::memcpy(copy.slot, slot.bytes, std::min(used, shm::slot_bytes));
}

Immortal<Links> the_links;

void Links::set_up() {
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  const std::uint32_t me = neighborhood.local_index();
  first_rank_ = neighborhood.first_rank();
  pairs_ = neighborhood.has_pair_rings();
  threaded_ = self.threaded;

  const std::size_t sources = pairs_ ? neighborhood.size() : 1;
  incoming_ = std::vector<Incoming>(2 * sources);
  points_ = std::vector<PollPoint>(2 * sources);
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    Incoming& in = incoming_[i];
    in.direction = i < sources ? shm::requests : shm::replies;
    in.ring = neighborhood.ring(in.direction, static_cast<std::uint32_t>(i % sources), me);
    in.consumer = {in.ring.control, in.ring.shape};
    points_[i].ready.store(&in.ring.cells[0].ready, std::memory_order_relaxed);
    points_[i].expected.store(1, std::memory_order_relaxed);
  }
  links_ = std::vector<Link>(neighborhood.size());
  owed_ = std::vector<std::atomic<std::uint32_t>>(neighborhood.size());
  for (std::uint32_t member = 0; member < neighborhood.size(); ++member) {
    Link& link = links_[member];
    link.member = member;
    for (const shm::Direction direction : {shm::requests, shm::replies}) {
      link.out[direction].ring = neighborhood.ring(direction, me, member);
      link.out[direction].producer = {link.out[direction].ring.control,
                                      link.out[direction].ring.shape};
    }
    if (pairs_) link.answers = &incoming_[sources + member];
  }
}

bool Links::claim_request_credit() noexcept {
  const std::uint32_t sent = requests_sent_.fetch_add(1, std::memory_order_relaxed);
  // The reply ring of this process is the last one of `incoming_` when rings are shared.
  const std::uint32_t answered = incoming_.back().consumed.load(std::memory_order_relaxed);
  const Process& self = process();
  const std::uint32_t unanswered = self.neighborhood.unanswered_of(self.neighborhood.local_index())
                                       .load(std::memory_order_relaxed);
  if (sent - answered - unanswered < shm::shared_shape.reply_window) return true;
  requests_sent_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool Links::find_room(Link& link, shm::Direction direction) noexcept {
  auto& producer = link.out[direction].producer;
  return direction == shm::requests
             ? producer.find_request_room(link.answers->consumed.load(std::memory_order_relaxed))
             : producer.find_reply_room();
}

bool Links::claim_shared_cell(Link& link, shm::Direction direction, Claim& claim) noexcept {
  const shm::Ring& ring = link.out[direction].ring;
  if (direction == shm::requests && !claim_request_credit()) return false;
  if (shm::claim_shared(*ring.control, ring.shape, claim.sequence)) return true;
  if (direction == shm::requests) requests_sent_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void Links::request_unanswered(Incoming& ring, gex_Rank_t source) noexcept {
  if (pairs_) [[likely]] {
    const std::uint32_t lag = ring.ring.shape.release_lag;
    if (!threaded_) {
      const std::uint32_t count = ring.unanswered.load(std::memory_order_relaxed) + 1;
      ring.unanswered.store(count, std::memory_order_relaxed);
      // Relaxed: the count carries no data; the requester only learns that no reply will come.
      if (count % lag == 0) ring.ring.control->unanswered.store(count, std::memory_order_relaxed);
      return;
    }
    const std::uint32_t count = ring.unanswered.fetch_add(1, std::memory_order_relaxed) + 1;
    if (count % lag == 0) ring.ring.control->unanswered.fetch_add(lag, std::memory_order_relaxed);
    return;
  }
  owed_[source - first_rank_].fetch_add(1, std::memory_order_relaxed);
  owes_.store(true, std::memory_order_relaxed);
}

void Links::flush_unanswered() noexcept {
  if (!owes_.exchange(false, std::memory_order_relaxed)) return;
  for (std::uint32_t member = 0; member < owed_.size(); ++member) {
    if (owed_[member].load(std::memory_order_relaxed) == 0) continue;
    const std::uint32_t count = owed_[member].exchange(0, std::memory_order_relaxed);
    process().neighborhood.unanswered_of(member).fetch_add(count, std::memory_order_relaxed);
  }
}

bool Links::take_one(std::size_t index) noexcept {
  Incoming& in = incoming_[index];
  if (threaded_ && !in.lock.try_lock()) return false;
  const std::uint32_t at = in.consumer.next() & (in.ring.shape.cells - 1);
  const Cell& cell = in.ring.cells[at];
  if (!in.consumer.arrived(cell.ready)) {
    if (threaded_) in.lock.unlock();
    return false;
  }
  Copy copy;
  copy_out(cell, in.ring.slots[at], copy);
  in.consumer.advance();
  const std::uint32_t next = in.consumer.next();
  in.consumed.store(next, std::memory_order_relaxed);
  points_[index].expected.store(next + 1, std::memory_order_relaxed);
  points_[index].ready.store(&in.ring.cells[next & (in.ring.shape.cells - 1)].ready,
                             std::memory_order_relaxed);
  if (threaded_) in.lock.unlock();

  if (copy.header.category() == Category::short_message &&
      copy.header.arg_count() <= shm::cell_words) [[likely]] {
    const Arrived arrived{copy.header, reinterpret_cast<const gex_AM_Arg_t*>(copy.words), nullptr,
                          0, &in};
    if (run_handler(arrived)) request_unanswered(in, copy.header.source);
    return true;
  }
  deliver_with_payload(in, copy);
  return true;
}

void Links::deliver_with_payload(Incoming& in, Copy& copy) noexcept {
  const MessageHeader& header = copy.header;
  const Category category = header.category();
  const unsigned arg_count = header.arg_count();
  const unsigned in_cell = shm::args_in_cell(category);
  const std::uint32_t* first =
      category == Category::long_message ? copy.words + shm::long_prefix_words : copy.words;
  Arrived arrived{header, reinterpret_cast<const gex_AM_Arg_t*>(first), nullptr, 0, &in};
  if (arg_count > in_cell) [[unlikely]] {
    std::memcpy(copy.args, first, in_cell * sizeof(gex_AM_Arg_t));
    std::memcpy(copy.args + in_cell, copy.slot, (arg_count - in_cell) * sizeof(gex_AM_Arg_t));
    arrived.args = copy.args;
  }
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const bool in_slab = category == Category::medium && header.slab() != no_slab;
  if (category == Category::medium) {
    arrived.size = header.size();
    if (in_slab)
      arrived.payload =
          neighborhood.slab(neighborhood.local_index_of(header.source), header.slab());
    else if (shm::place_of(arg_count, arrived.size) == shm::Place::cell)
      arrived.payload = reinterpret_cast<std::byte*>(copy.words) + shm::round_up_16(arg_count * 4);
    else
      arrived.payload = copy.slot + shm::surplus_bytes(category, arg_count);
  } else if (category == Category::long_message) {
    std::uint64_t prefix[2];
    std::memcpy(prefix, copy.words, sizeof prefix);
    arrived.payload = reinterpret_cast<void*>(prefix[0]);
    arrived.size = prefix[1];
  }
  const bool unanswered = run_handler(arrived);
  if (in_slab)
    // Release: the handler's reads precede the owner's next write to the slab.
    neighborhood.slab_busy(neighborhood.local_index_of(header.source), header.slab())
        .store(0, std::memory_order_release);
  if (unanswered) request_unanswered(in, header.source);
}

bool Links::drain(std::size_t index) noexcept {
  bool any = false;
  for (unsigned i = 0; i < drain_limit && points_[index].arrived() && take_one(index); ++i)
    any = true;
  return any;
}

bool Links::drain_arrived() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < points_.size(); ++i) any |= drain(i);
  return any;
}

}  // namespace gex::am
