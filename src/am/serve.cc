#include "am/serve.h"

#include <bit>
#include <cstdint>

#include "am/cells.h"
#include "am/links.h"
#include "am/network.h"
#include "am/receive.h"
#include "am/rings.h"
#include "am/to_neighbor.h"
#include "base/clock.h"
#include "base/immortal.h"
#include "core/thread.h"

namespace gex::am {

namespace {

/// A message that no thread of the client has taken for so long is left to the progress thread.
constexpr std::uint64_t patience_ns = 20'000;

/// Messages that it takes from a ring before it looks at the next one.
constexpr unsigned max_in_a_row = 32;

/// A ring as the progress thread has seen it last.
struct Watch {
  std::uint32_t taken = 0;  ///< messages, by any thread
  Tick since = 0;           ///< when it was first seen at that
  bool is_mine = false;     ///< the last one was taken by the progress thread
};

/// The progress thread's own.
struct Watches {
  Watch of[shm::max_lanes][2 * shm::max_pair_members];
};
Immortal<Watches> the_watches;

/// Calls `visit(lane, index, ring)` for all rings that are polled.
template <class Visit>
void for_each_ring(Visit visit) noexcept {
  Links& all = links();
  for (std::uint32_t lanes = all.polled_lanes(); lanes != 0; lanes &= lanes - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const RingLane& lane = all.lane(number);
    const std::uint32_t rings = lane.polled.count();
    for (std::uint32_t i = 0; i < rings; ++i) visit(number, i, lane.polled[i]);
  }
}

void serve_ring(Watch& watch, Incoming& in, Served& served) noexcept {
  const Tick now = ticks();
  const std::uint32_t taken = in.taken();
  if (taken != watch.taken) {
    watch = {taken, now, false};
    served.attended = true;
    return;
  }
  if (gex_inbox_seems_full_(in.inbox) == 0) return;
  static const Tick patience = ns_to_ticks(patience_ns);
  if (!watch.is_mine && now - watch.since < patience) {
    served.soon = true;
    return;
  }
  Found found = Found::delivered;
  for (unsigned i = 0; i < max_in_a_row && found == Found::delivered; ++i) {
    found = serve_message(in);
    if (found != Found::delivered) break;
    served.progressed = true;
    ++watch.taken;
    watch.is_mine = true;
  }
  if (found == Found::blocked) served.blocked = true;
}

Served serve() noexcept {
  if (LanesSlot::of(this_thread()) == nullptr) links().enter_progress_thread();
  const HandlersRun scope;
  Served served = serve_network();
  Watches& watches = the_watches.get();
  for_each_ring([&](std::uint32_t lane, std::uint32_t index, Incoming& in) noexcept {
    serve_ring(watches.of[lane][index], in, served);
  });
  report_unanswered();
  if (any_kept.load(std::memory_order_relaxed)) {
    served.progressed |= flush_kept_replies();
    served.pending = true;
  }
  return served;
}

bool has_work() noexcept {
  bool any = false;
  for_each_ring([&](std::uint32_t, std::uint32_t, const Incoming& in) noexcept {
    // Not the inbox, of whose words another thread may have changed one and not yet the other: it
    // would seem empty then, and the message be left here if that thread takes no more.
    any = any || in.may_hold_message();
  });
  return any;
}

/// Returns true if a sender has claimed the next cell of a shared ring and not published it yet. It
/// rings no bell if its message is the client's, but those of others behind it have rung for
/// theirs.
bool is_cell_awaited() noexcept {
  Links& all = links();
  if (all.pairs()) return false;
  bool any = false;
  for_each_ring([&](std::uint32_t, std::uint32_t, const Incoming& in) noexcept {
    any = any || in.control->tail.load(std::memory_order_relaxed) != in.taken();
  });
  return any;
}

bool is_pending() noexcept {
  return any_kept.load(std::memory_order_relaxed) || is_cell_awaited();
}

}  // namespace

constinit const Server server{serve, has_work, is_pending};

}  // namespace gex::am
