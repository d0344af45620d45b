#include "am/links.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "am/cell_layout.h"
#include "base/error.h"
#include "base/os_process_fence.h"
#include "base/spin_lock.h"
#include "base/tsan.h"
#include "core/thread.h"

namespace gex::am {

Immortal<Links> the_links;

Incoming& Links::incoming(RingLane& lane, shm::Direction direction, std::uint32_t member) noexcept {
  if (!pairs()) return lane.incoming[direction];
  const std::uint32_t own = process().neighborhood.local_index();
  return lane.incoming[2 * (member - (member > own ? 1 : 0)) + direction];
}

void Links::set_up_incoming(Incoming& in, const shm::Ring& ring) noexcept {
  in.cells = ring.cells;
  in.slots = ring.slots;
  in.consumer = {ring.control, ring.shape};
  in.control = ring.control;
  in.show_next();
}

/// Sets up the ring to a member.
void Links::connect(RingLane& lane, std::uint32_t number, shm::Direction direction,
                    std::uint32_t member) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const shm::Ring ring = neighborhood.ring(number, direction, neighborhood.local_index(), member);
  Outgoing& out = lane.links[member].out[direction];
  out.producer = {ring.control, ring.shape};
  out.cells = ring.cells;
  out.slots = ring.slots;
  if (!os::has_shared_fence()) shm::mark_of(out.cells).keep_set();
}

/// Sets up a mapped lane without the contents of its rings: those of a further lane are touched
/// once they are used.
void Links::set_up_lane(RingLane& lane, std::uint32_t number) {
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  const std::uint32_t me = neighborhood.local_index();
  lane.links = std::make_unique<Link[]>(count_);
  lane.by_jobrank = ZeroedTable<Link*>(self.job->size());
  lane.slabs.set_up(neighborhood, threaded_, number);
  const std::uint32_t rings = 2 * (pairs() ? count_ - 1 : 1);
  lane.incoming = std::make_unique<Incoming[]>(rings);
  for (std::uint32_t i = 0; i < rings; ++i) {
    lane.incoming[i].inbox = &lane.inboxes[i];
    lane.incoming[i].lane = static_cast<std::uint8_t>(number);
  }
  for (std::uint32_t member = 0; member < count_; ++member) {
    Link& link = lane.links[member];
    link.member = member;
    link.slabs = &lane.slabs;
    link.lane = number;
    link.open = number == 0;
    link.waiters = &neighborhood.waiters_bell(member);
    if (member == me) continue;
    if (!self.progress_threads.empty() &&
        self.progress_threads[self.own_host.index_of(neighborhood.members()[member])])
      link.bell = &neighborhood.doorbell(member);
    lane.by_jobrank[neighborhood.members()[member]] = &link;
    if (!pairs()) continue;
    link.answers = &incoming(lane, shm::replies, member);
    for (const shm::Direction direction : {shm::requests, shm::replies}) {
      Incoming& in = incoming(lane, direction, member);
      in.source = neighborhood.members()[member];
      in.to_source = &link;
    }
  }
  lanes_.put(number, lane);
}

void Links::set_up() {
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  const std::uint32_t me = neighborhood.local_index();
  count_ = neighborhood.size();
  pairs_ = neighborhood.has_pair_rings();
  threaded_ = self.threaded;
  owed_ = std::vector<std::atomic<std::uint32_t>>(count_);
  if (threaded_) os::enable_process_fence();
  set_up_lane(first_, 0);
  for (const shm::Direction direction : {shm::requests, shm::replies}) {
    for (std::uint32_t member = 0; member < count_; ++member) {
      if (member != me) connect(first_, 0, direction, member);
      if (pairs() ? member == me : member != 0) continue;
      Incoming& in = incoming(first_, direction, member);
      set_up_incoming(in, neighborhood.ring(0, direction, member, me));
      in.source = neighborhood.members()[member];
    }
  }
  const std::uint32_t rings = 2 * (pairs() ? count_ - 1 : 1);
  for (std::uint32_t i = 0; i < rings; ++i) first_.polled.add(first_.incoming[i]);
  watch_inboxes(first_.inboxes, rings);
  register_marks([]() noexcept { links().set_marks(); });
}

void Links::set_marks() noexcept {
  for (std::uint32_t bits = polled_lanes(); bits != 0; bits &= bits - 1) {
    const RingLane& lane = lanes_[static_cast<std::uint32_t>(__builtin_ctz(bits))];
    for (std::uint32_t i = 0; i < lane.polled.count(); ++i)
      shm::mark_of(lane.polled[i].cells).set();
  }
}

/// Shared rings are those of lane 0, whatever the thread.
Link* Links::to_otherwise(gex_Rank_t jobrank) noexcept {
  if (jobrank >= first_.by_jobrank.size()) return nullptr;
  return pairs() ? own_lane().own->by_jobrank[jobrank] : first_.by_jobrank[jobrank];
}

int wake_consumer(Link& link, shm::Direction direction) noexcept {
  shm::mark_of(link.out[direction].cells).take();
  link.waiters->ring();
  return 0;
}

/// The lane, set up; null with errno if it cannot be mapped. Under the mutex.
RingLane* Links::find_lane(std::uint32_t number) noexcept {
  if (lanes_.find(number) == nullptr) {
    if (!process().neighborhood.map_lane(number)) return nullptr;
    set_up_lane(*new RingLane, number);
  }
  return lanes_.find(number);
}

/// Gives the thread a lane; false if it cannot be mapped.
bool Links::take_lane(ThreadRecord& thread, ThreadLanes& mine, std::uint32_t number) noexcept {
  const OptionalGuard guard(mutex_, threaded_);
  RingLane* const lane = find_lane(number);
  if (lane == nullptr) return false;
  mine.own = lane;
  mine.number = number;
  if (pairs()) LinksSlot::set(thread, &lane->by_jobrank[0]);
  return true;
}

namespace {
/// The lane of a thread's own, which it shares if there are more threads than lanes.
std::uint32_t own_lane_of(const ThreadRecord& thread) noexcept {
  const std::uint32_t lanes = process().neighborhood.lanes();
  return lanes > 1 ? 1 + (thread.number - 1) % (lanes - 1) : 0;
}
}  // namespace

void Links::enter(ThreadRecord& thread) noexcept {
  auto* const mine = new ThreadLanes;
  // Relaxed: exactly one thread is first; nothing else depends on it.
  const bool is_first = entered_.fetch_add(1, std::memory_order_relaxed) == 0;
  if (is_first || !threaded_ || !take_lane(thread, *mine, own_lane_of(thread)))
    take_lane(thread, *mine, 0);
  LanesSlot::set(thread, mine);
}

void Links::enter_progress_thread() noexcept {
  ThreadRecord& thread = this_thread();
  auto* const mine = new ThreadLanes;
  take_lane(thread, *mine, 0);
  LanesSlot::set(thread, mine);
}

void Links::leave_first_lane(ThreadRecord& thread, ThreadLanes& mine) noexcept {
  const std::uint32_t number = own_lane_of(thread);
  if (mine.number == 0 && number != 0 && entered_.load(std::memory_order_relaxed) > 1)
    take_lane(thread, mine, number);
}

/// Adds a ring of a further lane to those that are polled. Under the mutex.
void Links::poll_further(RingLane& lane, std::uint32_t number, Incoming& in) noexcept {
  lane.polled.add(in);
  if (polled_lanes() == 1) {
    // Inline polls look at lane 0 for all threads. From now on each poll is a call, which begins
    // with the thread's own lane.
    leave_inboxes_to_deliverer();
    want_deliveries();
  }
  lanes_.add(number);
  // Messages may be there already, whose senders have found the progress thread awake, and no mark
  // of threads that sleep.
  wake_progress_thread();
  ring_own_waiters();
}

void Links::expect_replies(Link& link) noexcept {
  const std::lock_guard guard(mutex_);
  Incoming& in = *link.answers;
  if (in.cells != nullptr) return;
  const shm::Neighborhood& neighborhood = process().neighborhood;
  set_up_incoming(
      in, neighborhood.ring(link.lane, shm::replies, link.member, neighborhood.local_index()));
  poll_further(lane(link.lane), link.lane, in);
  connect(lane(link.lane), link.lane, shm::requests, link.member);
}

void Links::expect_requests(std::uint32_t number, gex_Rank_t source) noexcept {
  const std::lock_guard guard(mutex_);
  const shm::Neighborhood& neighborhood = process().neighborhood;
  RingLane* const lane = find_lane(number);
  if (lane == nullptr)
    fatal("cannot map the shared memory of a further thread of rank %u: %s", source,
          std::strerror(errno));
  const std::uint32_t member = neighborhood.local_index_of(source);
  Incoming& in = incoming(*lane, shm::requests, member);
  if (in.cells != nullptr) return;
  connect(*lane, number, shm::replies, member);
  set_up_incoming(in, neighborhood.ring(number, shm::requests, member, neighborhood.local_index()));
  poll_further(*lane, number, in);
}

namespace {

/// After so many messages to a member the sender looks for room again, and polls. A sender that did
/// not poll before it ran out of room would leave its peer's messages where they are until then;
/// the peer, out of room, would take one after the other while it is written, and the two would
/// take turns instead of working at the same time.
constexpr std::uint32_t batch = 32;
static_assert(batch < shm::pair_shape.reply_window);

/// Takes the cells of a batch from the core that has read them, all at once. Otherwise the sender's
/// stores would wait for one after the other: they leave the store buffer in order, and so do those
/// of the client between two messages.
void fetch_for_writing(const Outgoing& out) noexcept {
  constexpr std::uint32_t mask = shm::pair_shape.cells - 1;
  const std::uint32_t first = out.producer.next();
  // As much of each slot as the last message has used.
  const shm::Cell& last = out.cells[(first - 1) & mask];
  const std::size_t used =
      used_of_slot({{static_cast<std::uint32_t>(last.ready.load(std::memory_order_relaxed) >> 32)},
                    0,
                    last.size_buffer});
  for (std::uint32_t i = 0; i < out.producer.room(); ++i) {
    const std::uint32_t place = (first + i) & mask;
    prefetch_for_write(&out.cells[place]);
    for (std::size_t at = 0; at < used; at += cache_line)
      prefetch_for_write(out.slots[place].bytes + at);
  }
}

}  // namespace

bool Links::claim_request_credit(Claim& claim) noexcept {
  const std::uint32_t sent = requests_sent_.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t answered = first_.incoming[shm::replies].taken();
  const Process& self = process();
  const std::uint32_t unanswered = self.neighborhood.unanswered_of(self.neighborhood.local_index())
                                       .load(std::memory_order_relaxed);
  if (sent - answered - unanswered < shm::shared_shape.reply_window) {
    claim.begins_batch = sent % batch == 0;
    return true;
  }
  requests_sent_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool Links::find_room(Link& link, shm::Direction direction) noexcept {
  Outgoing& out = link.out[direction];
  auto& producer = out.producer;
  const bool found = direction == shm::requests ? producer.find_request_room(link.answers->taken())
                                                : producer.find_reply_room();
  if (!found) return false;
  // Where nothing is under way the member waits for each message, and reads its cell ahead of it.
  const bool is_stream =
      producer.room() <
      (direction == shm::requests ? shm::pair_shape.reply_window : shm::pair_shape.cells);
  producer.use_at_most(batch);
  if (is_stream) fetch_for_writing(out);
  return true;
}

bool Links::claim_shared(Outgoing& out, shm::Direction direction, Claim& claim) noexcept {
  if (direction == shm::requests && !claim_request_credit(claim)) return false;
  if (!shm::claim_shared(*out.producer.control(), shm::shared_shape, claim.sequence)) {
    if (direction == shm::requests) requests_sent_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  claim.is_in(out, shm::shared_shape);
  order_through_peer_ends(&claim.cell->ready);
  return true;
}

void Links::publish(Outgoing& out, const Claim& claim, MessageWhat what) noexcept {
  if (pairs()) {
    out.producer.publish(claim.cell->ready, what.word);
    return;
  }
  // Another thread of this process may claim the cell next, when its consumer has given it back.
  order_through_peer_begins(&claim.cell->ready);
  shm::publish_shared<shm::StdAtomics>(claim.cell->ready, claim.sequence, what.word);
}

void Links::request_unanswered(Incoming& in, BiasedLock::Hold hold, gex_Rank_t source) noexcept {
  if (pairs()) [[likely]] {
    // Relaxed, all of it: the count carries no data; the requester only learns that no reply will
    // come.
    const std::uint32_t count = !threaded_ ? ++in.unanswered_of_home[0]
                                : hold.is_biased()
                                    ? ++in.unanswered_of_home[hold.place()]
                                    : in.unanswered.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!shm::pair_shape.is_published(count)) return;
    if (threaded_)
      in.control->unanswered.fetch_add(shm::pair_shape.release_lag, std::memory_order_relaxed);
    else
      in.control->unanswered.store(count, std::memory_order_relaxed);
    in.to_source->waiters->ring();
    return;
  }
  const std::uint32_t member = process().neighborhood.local_index_of(source);
  shm::owe<shm::StdAtomics>(owed_[member], owes_);
}

void Links::flush_unanswered() noexcept {
  shm::report_owed<shm::StdAtomics>(
      owes_, static_cast<std::uint32_t>(owed_.size()),
      [this](std::uint32_t member) -> std::atomic<std::uint32_t>& { return owed_[member]; },
      [](std::uint32_t member, std::uint32_t count) {
        const shm::Neighborhood& neighborhood = process().neighborhood;
        neighborhood.unanswered_of(member).fetch_add(count, std::memory_order_relaxed);
        neighborhood.waiters_bell(member).ring();
      });
}

}  // namespace gex::am
