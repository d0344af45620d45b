#include "am/links.h"

#include <algorithm>
#include <cstring>

#include "am/cell_layout.h"
#include "am/copy.h"
#include "am/deliver.h"
#include "base/error.h"
#include "base/tsan.h"

namespace gex::am {

namespace {

/// Messages taken from one ring before the others have their turn.
constexpr unsigned drain_limit = 32;

/// What a message uses of its slot, in bytes: surplus arguments, and a payload that is there.
std::size_t used_of_slot(const MessageHeader& header) noexcept {
  const std::size_t surplus = surplus_bytes(header.category(), header.arg_count());
  const bool payload = header.category() == Category::medium && header.slab() == no_slab &&
                       place_of(header.arg_count(), header.size()) == Place::slot;
  return std::min(surplus + (payload ? header.size() : 0), shm::slot_bytes);
}

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
          neighborhood.slab(neighborhood.local_index_of(header.source), header.slab());
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

/// Delivers a message that is more than a short one in its cell. Returns whether a request was left
/// without a reply.
bool deliver_copy(Copy& copy, Incoming& in) noexcept {
  const MessageHeader& header = copy.header;
  const bool unanswered = run_handler(assemble(copy, in), copy.number);
  if (header.category() == Category::medium && header.slab() != no_slab) {
    const shm::Neighborhood& neighborhood = process().neighborhood;
    // Release: the handler's reads precede the owner's next write to the slab.
    neighborhood.slab_busy(neighborhood.local_index_of(header.source), header.slab())
        .store(0, std::memory_order_release);
  }
  return unanswered;
}

}  // namespace

Immortal<Links> the_links;

Incoming& Links::incoming(shm::Direction direction, std::uint32_t member) noexcept {
  if (!pairs()) return incoming_[direction];
  const std::uint32_t own = process().neighborhood.local_index();
  return incoming_[2 * (member - (member > own ? 1 : 0)) + direction];
}

void Links::set_up() {
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  const std::uint32_t me = neighborhood.local_index();
  count_ = neighborhood.size();
  pairs_ = neighborhood.has_pair_rings();
  threaded_ = self.threaded;

  links_ = std::make_unique<Link[]>(count_);
  by_jobrank_.resize(self.job->size());
  for (std::uint32_t member = 0; member < count_; ++member)
    if (member != me) by_jobrank_[neighborhood.members()[member]] = &links_[member];
  pair_by_jobrank_ = pairs() ? by_jobrank_ : std::vector<Link*>(by_jobrank_.size());
  owed_ = std::vector<std::atomic<std::uint32_t>>(count_);
  const std::uint32_t inboxes = 2 * (pairs() ? count_ - 1 : 1);
  incoming_ = std::make_unique<Incoming[]>(inboxes);
  inboxes_ = std::make_unique<gex_Inbox_[]>(inboxes);
  for (std::uint32_t i = 0; i < inboxes; ++i) incoming_[i].inbox = &inboxes_[i];
  for (const shm::Direction direction : {shm::requests, shm::replies}) {
    for (std::uint32_t member = 0; member < (pairs() ? count_ : 1); ++member) {
      if (pairs() && member == me) continue;
      Incoming& in = incoming(direction, member);
      const shm::Ring ring = neighborhood.ring(direction, member, me);
      in.cells = ring.cells;
      in.slots = ring.slots;
      in.source = neighborhood.members()[member];
      in.to_source = pairs() ? &links_[member] : nullptr;
      in.consumer = {ring.control, ring.shape};
      in.control = ring.control;
      in.show_next();
    }
    for (std::uint32_t member = 0; member < count_; ++member) {
      if (member == me) continue;
      const shm::Ring ring = neighborhood.ring(direction, me, member);
      Outgoing& out = links_[member].out[direction];
      out.producer = {ring.control, ring.shape};
      out.cells = ring.cells;
      out.slots = ring.slots;
      out.control = ring.control;
    }
  }
  for (std::uint32_t member = 0; member < count_; ++member) {
    links_[member].member = member;
    if (pairs() && member != me) links_[member].answers = &incoming(shm::replies, member);
  }
  watch_inboxes(inboxes_.get(), inboxes);
}

bool Links::claim_request_credit() noexcept {
  const std::uint32_t sent = requests_sent_.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t answered = incoming_[shm::replies].taken();
  const Process& self = process();
  const std::uint32_t unanswered = self.neighborhood.unanswered_of(self.neighborhood.local_index())
                                       .load(std::memory_order_relaxed);
  if (sent - answered - unanswered < shm::shared_shape.reply_window) return true;
  requests_sent_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool Links::find_room(Link& link, shm::Direction direction) noexcept {
  auto& producer = link.out[direction].producer;
  return direction == shm::requests ? producer.find_request_room(link.answers->taken())
                                    : producer.find_reply_room();
}

bool Links::claim(Link& link, shm::Direction direction, Claim& claim) noexcept {
  Outgoing& out = link.out[direction];
  if (pairs()) {
    if (!out.producer.has_room() && !find_room(link, direction)) return false;
    claim.sequence = out.producer.next();
  } else {
    if (direction == shm::requests && !claim_request_credit()) return false;
    if (!shm::claim_shared(*out.control, shm::shared_shape, claim.sequence)) {
      if (direction == shm::requests) requests_sent_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
  }
  const shm::RingShape shape = pairs() ? shm::pair_shape : shm::shared_shape;
  const std::uint32_t index = claim.sequence & (shape.cells - 1);
  claim.cell = &out.cells[index];
  claim.slot = &out.slots[index];
  if (!pairs()) order_through_peer_ends(&claim.cell->ready);
  return true;
}

void Links::publish(Outgoing& out, const Claim& claim, std::uint32_t what) noexcept {
  if (pairs()) {
    out.producer.publish(claim.cell->ready, what);
    return;
  }
  // Another thread of this process may claim the cell next, when its consumer has given it back.
  order_through_peer_begins(&claim.cell->ready);
  shm::publish_shared<shm::StdAtomics>(claim.cell->ready, claim.sequence, what);
}

void Links::request_unanswered(Incoming& in, gex_Rank_t source) noexcept {
  if (pairs()) [[likely]] {
    if (!threaded_) {
      const std::uint32_t count = in.unanswered.load(std::memory_order_relaxed) + 1;
      in.unanswered.store(count, std::memory_order_relaxed);
      // Relaxed: the count carries no data; the requester only learns that no reply will come.
      if (shm::pair_shape.is_published(count))
        in.control->unanswered.store(count, std::memory_order_relaxed);
      return;
    }
    const std::uint32_t count = in.unanswered.fetch_add(1, std::memory_order_relaxed) + 1;
    if (shm::pair_shape.is_published(count))
      in.control->unanswered.fetch_add(shm::pair_shape.release_lag, std::memory_order_relaxed);
    return;
  }
  const std::uint32_t member = process().neighborhood.local_index_of(source);
  owed_[member].fetch_add(1, std::memory_order_relaxed);
  // Release: whoever sees it sees the count; else that would be left behind with nobody to ask. An
  // exchange, not a store: it goes on with the release sequence of a thread that set it before,
  // whose count is seen as well.
  owes_.exchange(true, std::memory_order_release);
}

void Links::flush_unanswered() noexcept {
  if (!owes_.exchange(false, std::memory_order_acquire)) return;
  for (std::uint32_t member = 0; member < owed_.size(); ++member) {
    if (owed_[member].load(std::memory_order_relaxed) == 0) continue;
    const std::uint32_t count = owed_[member].exchange(0, std::memory_order_relaxed);
    process().neighborhood.unanswered_of(member).fetch_add(count, std::memory_order_relaxed);
  }
}

/// Once a message is copied out, its cell is given back and others may poll, while its handler
/// runs.
[[gnu::always_inline]] inline void Links::let_go(Incoming& in) noexcept {
  in.consumer.advance();
  in.show_next();
  if (threaded_) in.lock.unlock();
}

bool Links::take_large(Incoming& in, MessageHeader header) noexcept {
  const std::uint32_t place = in.place();
  const shm::Cell& cell = in.cells[place];
  Copy copy;
  header.size_buffer = cell.size_buffer;
  copy.header = header;
  copy.number = in.consumer.next();
  std::memcpy(copy.words, cell.words, sizeof copy.words);
  const std::size_t used = used_of_slot(header);
  if (used != 0) copy_chunks(copy.slot, in.slots[place].bytes, used);
  in.fetches_slots = used != 0;
  let_go(in);
  return deliver_copy(copy, in);
}

/// Takes the next message, if there is one, and runs its handler.
[[gnu::always_inline]] inline bool Links::take_one(Incoming& in) noexcept {
  if (threaded_ && !in.lock.try_lock()) return false;
  const shm::Cell& cell = in.cells[in.place()];
  MessageHeader header;
  if (!in.consumer.arrived(cell.ready, header.what)) {
    if (threaded_) in.lock.unlock();
    return false;
  }
  header.source = pairs() ? in.source : cell.source;
  header.size_buffer = 0;
  bool unanswered;
  if (header.category() == Category::short_message && header.arg_count() <= shm::cell_words)
      [[likely]] {
    alignas(16) gex_AM_Arg_t args[shm::cell_words];
    copy_chunks(args, cell.words, header.arg_count() * sizeof *args);
    const std::uint32_t number = in.consumer.next();
    let_go(in);
    unanswered = run_handler({header, args, nullptr, 0, &in}, number);
  } else {
    unanswered = take_large(in, header);
  }
  if (unanswered) request_unanswered(in, header.source);
  return true;
}

bool Links::drain(Incoming& in) noexcept {
  unsigned taken = 0;
  while (taken < drain_limit && take_one(in)) ++taken;
  return taken != 0;
}

bool Links::poll(std::uint32_t quiet) noexcept {
  bool any = false;
  const std::uint32_t watched = watched_inboxes();
  // The first one seemed to have a message just now.
  for (std::uint32_t i = quiet; i < watched; ++i)
    if (i == quiet || gex_inbox_seems_full_(&inboxes_[i]) != 0) any |= drain(incoming_[i]);
  if (owes_.load(std::memory_order_relaxed)) flush_unanswered();
  return any;
}

}  // namespace gex::am
