#include "am/links.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

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
    link.replies = &incoming(lane, shm::replies, member);
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
  Incoming& in = *link.replies;
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

}  // namespace gex::am
