#include "am/poll.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include "am/deliver.h"
#include "am/links.h"
#include "am/local_send.h"
#include "am/network.h"
#include "am/receive.h"
#include "am/set_aside.h"
#include "am/to_self.h"
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
    if (!run_handler<Sender::anybody>(arrived, message->number)) continue;
    if (arrived.ring != nullptr)
      links().request_unanswered(*arrived.ring, BiasedLock::Hold(), arrived.header.source);
    else
      network_request_unanswered(arrived.header.source);
  }
  return !due.empty();
}

/// A thread looks at all lanes again after so many polls, some tens of microseconds; at first more
/// often.
constexpr std::uint32_t longest_survey_interval = 4096;

/// Delivers what has arrived in a lane.
bool poll_lane(Lane& lane) noexcept {
  bool any = false;
  // Acquire: see Lane::watch.
  const std::uint32_t rings = lane.watched.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < rings; ++i)
    if (gex_inbox_seems_full_(lane.rings[i]->inbox) != 0) any |= take_messages(*lane.rings[i]);
  return any;
}

/// Finds out which of the other lanes have nobody who polls them as their own: those the thread
/// polls as well from now on. To look at the others would take their lines from the threads that
/// use them.
[[gnu::noinline]] bool survey(ThreadLanes& mine, std::uint32_t open) noexcept {
  mine.until_survey = mine.survey_interval;
  mine.survey_interval = std::min(2 * mine.survey_interval, longest_survey_interval);
  mine.polled = 0;
  bool any = false;
  for (std::uint32_t number = 0; open >> number != 0; ++number) {
    if ((open >> number & 1) == 0 || number == mine.number) continue;
    Lane& lane = links().lane(number);
    const std::uint32_t polls = lane.own_polls.load(std::memory_order_relaxed);
    const bool is_polled = polls != mine.seen[number];
    mine.seen[number] = polls;
    if (is_polled) continue;
    mine.polled |= 1U << number;
    any |= poll_lane(lane);
  }
  ThreadRecord& thread = this_thread();
  if (!thread.request_descriptor.open) links().leave_first_lane(thread, mine);
  return any;
}

/// The same as poll_rings where there are further lanes.
bool poll_lanes(std::uint32_t open) noexcept {
  ThreadLanes& mine = links().own_lane();
  std::atomic<std::uint32_t>& polls = mine.own->own_polls;
  // Not added to in one step: threads that share a lane may lose counts, and it moves all the same.
  polls.store(polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bool any = poll_lane(*mine.own);
  if (mine.until_survey-- == 0) return any | survey(mine, open);
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
  Lane& lane = links().first();
  bool any = false;
  const std::uint32_t watched = watched_inboxes();
  // The first one seemed to have a message just now.
  for (std::uint32_t i = quiet; i < watched; ++i)
    if (i == quiet || gex_inbox_seems_full_(&lane.inboxes[i]) != 0)
      any |= take_messages(lane.incoming[i]);
  links().report_unanswered();
  return any;
}

}  // namespace

bool deliver_messages(std::uint32_t quiet) noexcept {
  bool progressed = poll_rings(quiet);
  if (process().conduit != nullptr) progressed |= poll_network();
  if (any_kept.load(std::memory_order_relaxed)) [[unlikely]]
    progressed |= flush_kept_replies();
  progressed |= deliver_own();
  progressed |= deliver_set_aside();
  return progressed;
}

}  // namespace gex::am
