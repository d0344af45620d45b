#pragma once
// Progress: who polls, and how one waits.
//
// core delivers no messages. Rooms above register a `Poller` at start, each a function that makes
// what progress it can and returns whether it did anything. An idle poll calls none of them: it
// looks at the inboxes, where messages of this host arrive, and at one word that says whether
// anything else may have work. One of them delivers messages; the others are called only while
// somebody has work for them (`want_polls`). A wait is: read the condition, poll, read it again,
// let others run; it never sleeps in the kernel.

#include <atomic>
#include <cstdint>

#include "base/spin.h"
#include "shm/cell.h"
#include "shm/ring.h"

namespace gex {

/// What a poll reads of a ring of messages: where the next one will be.
struct Inbox {
  std::atomic<std::uint32_t> next{0};  ///< number of the next message, so many were consumed
  std::uint32_t mask = 0;              ///< a message's cell is its number & mask
  const shm::Cell* cells = nullptr;
  const shm::Slot* slots = nullptr;
  /// The last message had something in its slot, so the next one's is fetched while it is awaited.
  std::atomic<bool> fetch_slots{false};

  /// Whether a message seems to be there. Only a hint: nothing is ordered, and another thread may
  /// take it.
  bool seems_full() const noexcept {
    const std::uint32_t number = next.load(std::memory_order_relaxed);
    const std::uint32_t place = number & mask;
    if (fetch_slots.load(std::memory_order_relaxed)) __builtin_prefetch(&slots[place]);
    return shm::says_arrived(cells[place].ready.load(std::memory_order_relaxed), number);
  }
};

/// Makes progress; returns true if anything happened. Called from client context only.
using Poller = bool (*)() noexcept;
/// The same, for what delivers messages: the first `quiet` inboxes have just been looked at and
/// seemed empty.
using Deliverer = bool (*)(std::uint32_t quiet) noexcept;

/// Lets polls notice the end of the job; start-up, once the job is joined.
void watch_job() noexcept;

/// Start-up only.
void register_deliverer(Deliverer deliverer) noexcept;
void register_poller(Poller poller) noexcept;

namespace detail {
/// What an idle poll reads, in one cache line.
struct alignas(cache_line) Watched {
  const Inbox* inboxes;
  std::atomic<std::uint32_t> inbox_count;
  /// Those who have work for the deliverer that no inbox shows, and for the pollers.
  std::atomic<std::uint32_t> deliveries_wanted;
  std::atomic<std::uint32_t> polls_wanted;
  /// Not 0 once some rank has ended the job.
  const std::atomic<std::uint64_t>* ending;
};
extern Watched watched;
/// A poll that found something to do behind the first `quiet` inboxes.
bool poll_busy(std::uint32_t quiet) noexcept;
}  // namespace detail

/// The inboxes that polls look at; start-up only.
inline void watch_inboxes(const Inbox* inboxes, std::uint32_t count) noexcept {
  detail::watched.inboxes = inboxes;
  detail::watched.inbox_count.store(count, std::memory_order_relaxed);
}
/// From now on so many of them. Any thread.
inline void watch_more_inboxes(std::uint32_t count) noexcept {
  detail::watched.inbox_count.store(count, std::memory_order_relaxed);
}

inline std::uint32_t watched_inboxes() noexcept {
  return detail::watched.inbox_count.load(std::memory_order_relaxed);
}

/// Says that pollers have work from now on, and that they have none any more. Counted.
inline void want_polls() noexcept {
  detail::watched.polls_wanted.fetch_add(1, std::memory_order_relaxed);
}
inline void unwant_polls() noexcept {
  detail::watched.polls_wanted.fetch_sub(1, std::memory_order_relaxed);
}
/// The same for the deliverer: work that no inbox shows.
inline void want_deliveries() noexcept {
  detail::watched.deliveries_wanted.fetch_add(1, std::memory_order_relaxed);
}
inline void unwant_deliveries() noexcept {
  detail::watched.deliveries_wanted.fetch_sub(1, std::memory_order_relaxed);
}

/// One round of progress. Not in handlers.
[[gnu::always_inline]] inline bool poll() noexcept {
  const detail::Watched& watched = detail::watched;
  const std::uint32_t count = watched_inboxes();
  const Inbox* inboxes = watched.inboxes;
  for (std::uint32_t i = 0; i < count; ++i)
    if (inboxes[i].seems_full()) [[unlikely]]
      return detail::poll_busy(i);
  if ((watched.deliveries_wanted.load(std::memory_order_relaxed) |
       watched.polls_wanted.load(std::memory_order_relaxed)) != 0 ||
      watched.ending->load(std::memory_order_relaxed) != 0) [[unlikely]]
    return detail::poll_busy(count);
  return false;
}

/// Polls until `done()`; the condition is read again after every poll.
template <class Done>
void wait_until(Done done) noexcept {
  if (done()) return;
  Waiter waiter;
  for (;;) {
    const bool progressed = poll();
    if (done()) return;
    if (progressed)
      waiter.reset();
    else
      waiter.wait();
  }
}

}  // namespace gex
