#include "am/poll.h"

#include <atomic>
#include <bit>
#include <memory>

#include "am/cells.h"
#include "am/deliver.h"
#include "am/links.h"
#include "am/network.h"
#include "am/receive.h"
#include "am/set_aside.h"
#include "am/thread_messages.h"
#include "am/to_neighbor.h"
#include "am/to_self.h"
#include "base/clock.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/thread.h"

namespace gex::am {

namespace {

bool deliver_set_aside() noexcept {
  if (!any_set_aside_due()) return false;
  const auto due = take_set_aside();
  for (const std::unique_ptr<SetAsideMessage>& message : due) {
    const Arrived& arrived = message->arrived;
    const MessageHeader& header = arrived.header;
    const bool unanswered = run_handler<Sender::any>(arrived, message->number);
    if (arrived.ring == nullptr) {
      network_message_handled(header, unanswered);
      continue;
    }
    if (message->keeps_slab) release_slab(header, *arrived.ring);
    if (unanswered) request_unanswered(*arrived.ring, BiasedLock::Hold(), header.source);
  }
  return !due.empty();
}

/// A thread determines again which lanes it has to poll after that time, which it checks once in so
/// many polls. Time and not polls: a poll may take a few nanoseconds, or a time slice where there
/// are more threads than processors.
constexpr std::uint64_t survey_interval_ns = 64'000;
constexpr std::uint32_t polls_per_look = 16;

/// Delivers what has arrived in a lane.
bool poll_lane(RingLane& lane) noexcept {
  bool any = false;
  const std::uint32_t rings = lane.polled.count();
  for (std::uint32_t i = 0; i < rings; ++i)
    if (gex_inbox_seems_full_(lane.polled[i].inbox) != 0) any |= deliver_from_ring(lane.polled[i]);
  return any;
}

/// Determines which other lanes are polled by threads that own them: the thread no longer polls
/// those, which would take their lines from the threads that use them.
[[gnu::noinline]] void survey(ThreadLanes& mine, std::uint32_t open) noexcept {
  mine.polled = ~0U;
  for (std::uint32_t number = 0; open >> number != 0; ++number) {
    if ((open >> number & 1) == 0 || number == mine.number) continue;
    const std::uint32_t polls = links().lane(number).own_polls.load(std::memory_order_relaxed);
    if (polls != mine.seen[number]) mine.polled &= ~(1U << number);
    mine.seen[number] = polls;
  }
  ThreadRecord& thread = this_thread();
  if (!has_prepared_request(thread)) links().leave_first_lane(thread, mine);
}

[[gnu::noinline]] void survey_if_due(ThreadLanes& mine, std::uint32_t open) noexcept {
  const Tick now = ticks();
  if (now - mine.surveyed < ns_to_ticks(survey_interval_ns)) return;
  mine.surveyed = now;
  survey(mine, open);
}

/// poll_rings where there are further lanes.
bool poll_lanes(std::uint32_t open) noexcept {
  ThreadLanes& mine = links().own_lane();
  std::atomic<std::uint32_t>& polls = mine.own->own_polls;
  // Not an atomic addition: threads that share a lane may lose counts, but it still changes.
  polls.store(polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (++mine.polls % polls_per_look == 0) survey_if_due(mine, open);
  bool any = poll_lane(*mine.own);
  std::uint32_t others = mine.polled & open & ~(1U << mine.number);
  for (; others != 0; others &= others - 1)
    any |= poll_lane(links().lane(static_cast<std::uint32_t>(std::countr_zero(others))));
  return any;
}

/// Delivers what has arrived in the rings of this process; the first `quiet` seem empty.
bool poll_rings(std::uint32_t quiet) noexcept {
  const std::uint32_t open = links().polled_lanes();
  if (open != 1) [[unlikely]]
    return poll_lanes(open);
  RingLane& lane = links().first();
  bool any = false;
  const std::uint32_t watched = watched_inboxes();
  // The first one seemed to have a message just now.
  for (std::uint32_t i = quiet; i < watched; ++i)
    if (i == quiet || gex_inbox_seems_full_(&lane.inboxes[i]) != 0)
      any |= deliver_from_ring(lane.incoming[i]);
  report_unanswered();
  return any;
}

}  // namespace

bool deliver_messages(std::uint32_t quiet) noexcept {
  bool progressed = poll_rings(quiet);
  // All of the rest is wanted while there may be some (want_deliveries).
  if (!are_deliveries_wanted()) return progressed;
  if (process().conduit != nullptr) progressed |= poll_network();
  if (any_kept.load(std::memory_order_relaxed)) [[unlikely]]
    progressed |= flush_kept_replies();
  progressed |= deliver_internal_to_self();
  progressed |= deliver_set_aside();
  return progressed;
}

}  // namespace gex::am
