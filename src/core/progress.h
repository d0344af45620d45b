#pragma once
// Progress: what a poll runs, and how a thread waits.
//
// core delivers no messages. Rooms above register a `Poller` at start, each a function that makes
// what progress it can and returns whether it did anything. An idle poll calls none of them: it
// looks at the inboxes, where messages of this host arrive, and at one word that shows whether
// anything else may have work. One of them delivers messages; the others are called only while
// they have work (`want_polls`). A wait is: read the condition, poll, read it again, and after a
// while (base/patience.h) sleep until something comes (core/waiting.h).
//
// Where there is a progress thread (progress_thread.h) that delivers the library's own messages as
// well: by a `Server`, which leaves those whose handlers are the client's to the client's threads.

#include <gasnetex.h>

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/cancellation.h"
#include "base/patience.h"
#include "core/observer.h"
#include "core/op.h"
#include "core/waiting.h"
#include "shm/doorbell.h"

namespace gex {

/// Makes progress; returns true if anything happened. Called from client context only.
using Poller = bool (*)() noexcept;
/// Delivers messages; returns true if anything happened. The first `quiet` inboxes have just been
/// read and seemed empty. Called from client context only.
using Deliverer = bool (*)(std::uint32_t quiet) noexcept;

/// A look of the progress thread has found this.
struct Served {
  bool progressed = false;  ///< something was delivered, or sent
  bool attended = false;    ///< threads of the client have polled since the last look
  bool blocked = false;     ///< what is there must wait for a thread of the client
  bool soon = false;        ///< what is there may be delivered in some microseconds
  bool pending = false;     ///< something may become possible without a ring of the bell
};
/// The progress thread calls this instead of a deliverer.
struct Server {
  Served (*serve)() noexcept = nullptr;
  /// Returns true if something has come that `serve` may deliver.
  bool (*has_work)() noexcept = nullptr;
  /// Returns true if something has come that may become possible without a ring of the bell.
  bool (*is_pending)() noexcept = nullptr;
};

namespace detail {
/// Polls and sends on this thread's stack that run handlers.
extern constinit thread_local unsigned handler_runs __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// While one exists, the calling thread runs handlers.
struct HandlersRun {
  HandlersRun() noexcept { ++detail::handler_runs; }
  ~HandlersRun() { --detail::handler_runs; }
  HandlersRun(const HandlersRun&) = delete;
  HandlersRun& operator=(const HandlersRun&) = delete;
};
/// Returns true if the calling thread is in a poll or send that runs handlers.
inline bool handlers_run() noexcept {
  return detail::handler_runs != 0;
}

/// Lets polls notice the end of the job; start-up, once the job is joined.
void watch_job() noexcept;
/// Has polls call `watch` repeatedly once a rank has left the job; start-up only.
void register_absence_watch(void (*watch)() noexcept) noexcept;

/// Start-up only.
void register_deliverer(Deliverer deliverer) noexcept;
void register_poller(Poller poller) noexcept;
void register_server(const Server& server) noexcept;

namespace detail {
/// The registered server.
extern Server the_server;
/// The calling thread is the progress thread.
extern constinit thread_local bool is_progress_thread __attribute__((tls_model("initial-exec")));
/// This wakes the progress thread of the process, if it has one.
extern constinit shm::BellPlace own_bell;
}  // namespace detail

/// There may be work for the progress thread of this process, which the caller has stored.
inline void wake_progress_thread() noexcept {
  detail::own_bell.ring();
}

/// Returns true if the calling thread is the progress thread: no function of the client's may be
/// called.
inline bool in_progress_thread() noexcept {
  return detail::is_progress_thread;
}

/// Lets the registered pollers make progress, if they have work; for the progress thread. Whether
/// anything happened.
bool advance_pollers() noexcept;

namespace detail {
/// An idle poll reads these words, in one cache line; clients' inline polls read them too.
struct alignas(cache_line) Watched : gex_Watched_ {};
extern Watched watched;
/// A poll that found work behind the first `quiet` inboxes.
bool poll_busy(std::uint32_t quiet) noexcept;
}  // namespace detail

/// The inboxes that polls look at; start-up only, when polls have all that they need.
void watch_inboxes(const gex_Inbox_* inboxes, std::uint32_t count) noexcept;

/// Polls no longer look at inboxes: `want_deliveries` makes all polls calls.
void leave_inboxes_to_deliverer() noexcept;

inline std::uint32_t watched_inboxes() noexcept {
  return __atomic_load_n(&detail::watched.inbox_count, __ATOMIC_RELAXED);
}

/// Pollers have work from `want_polls` to `unwant_polls`. Calls are counted.
inline void want_polls() noexcept {
  __atomic_fetch_add(&detail::watched.polls_wanted, 1, __ATOMIC_RELAXED);
  wake_progress_thread();
  ring_own_waiters();
}
inline bool are_polls_wanted() noexcept {
  return __atomic_load_n(&detail::watched.polls_wanted, __ATOMIC_RELAXED) != 0;
}
inline void unwant_polls() noexcept {
  __atomic_fetch_sub(&detail::watched.polls_wanted, 1, __ATOMIC_RELAXED);
}
/// The deliverer has work that no inbox shows, until `unwant_deliveries`. Calls are counted.
inline void want_deliveries() noexcept {
  __atomic_fetch_add(&detail::watched.deliveries_wanted, 1, __ATOMIC_RELAXED);
  wake_progress_thread();
  ring_own_waiters();
}
inline void unwant_deliveries() noexcept {
  __atomic_fetch_sub(&detail::watched.deliveries_wanted, 1, __ATOMIC_RELAXED);
}
inline bool are_deliveries_wanted() noexcept {
  return __atomic_load_n(&detail::watched.deliveries_wanted, __ATOMIC_RELAXED) != 0;
}

/// One round of progress. Not in handlers.
[[gnu::always_inline]] inline bool poll() noexcept {
  const gex_Watched_& watched = detail::watched;
  const std::uint32_t quiet = gex_first_full_inbox_(&watched);
  if (quiet != watched_inboxes() || gex_work_wanted_(&watched)) [[unlikely]]
    return detail::poll_busy(quiet);
  return false;
}

/// A wait of this thread, shown in its status (job/rank_status.h) once it has yielded the core a
/// few times, which is after about ten microseconds, or sleeps.
class LongWait {
 public:
  LongWait() = default;
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;
  ~LongWait() {
    if (is_shown()) [[unlikely]]
      end();
  }

  /// The core has been yielded; `describe()`: what is waited for, an Op.
  template <class Describe>
  void yielded(const Describe& describe) noexcept {
    if (!is_shown() && ++yields_ == yields_unshown) begin(describe());
  }
  /// It is about to sleep.
  template <class Describe>
  void sleeps(const Describe& describe) noexcept {
    if (is_shown()) return;
    yields_ = yields_unshown;
    begin(describe());
  }
  void progressed() noexcept {
    if (is_shown()) [[unlikely]]
      note_progress();
  }

  /// Shows a wait of the calling thread's at once, and no wait.
  static void begin(const Op& op) noexcept;
  static void end() noexcept;

 private:
  static constexpr std::uint32_t yields_unshown = 8;

  bool is_shown() const noexcept { return yields_ == yields_unshown; }
  static void note_progress() noexcept;

  std::uint32_t yields_ = 0;
};

/// Sleeps for a wait whose turn has come to that, for at most so long, unless `look()` finds
/// something.
void sleep_for_wait(Patience& patience, std::uint64_t limit_ns, bool (*look)(void* context),
                    void* context) noexcept;

/// A client's own loop of polls has yielded the core, for the first time or again.
void note_condition_wait(bool first) noexcept;

/// Waits that take similar times, for how long they look before they sleep.
constexpr WaitKind kind_of(WaitCause cause) noexcept {
  switch (cause) {
    case WaitCause::completion:
    case WaitCause::local_completion:
      return WaitKind::operation;
    case WaitCause::room:
      return WaitKind::room;
    case WaitCause::barrier:
      return WaitKind::barrier;
    case WaitCause::collective:
      return WaitKind::collective;
    case WaitCause::exchange:
      return WaitKind::exchange;
    case WaitCause::lock:
      return WaitKind::lock;
  }
  return WaitKind::operation;
}

namespace detail {
/// Replaces the cancellation points of a wait that has none.
struct NoCancellationPoints {
  void visit() noexcept {}
};
/// So many messages arrive in a wait before it visits a cancellation point that no pause has led
/// to.
inline constexpr std::uint32_t arrivals_between_points = 256;

template <class Points, class Describe, class Done, class NeedsCore>
void poll_until(Describe describe, Done done, NeedsCore needs_core,
                WaitCause cause) noexcept(noexcept(Points().visit())) {
  if (done()) return;
  const ObservedWait observed_wait(cause);
  Patience patience(kind_of(cause));
  const struct End {
    Patience& patience;
    ~End() { patience.progressed(); }
  } end{patience};
  LongWait long_wait;
  Points points;
  std::uint32_t arrivals = 0;
  std::uint32_t quick_turns = 0;
  for (;;) {
    const bool progressed = poll();
    if (done()) return;
    if (progressed) {
      quick_turns = 0;
      patience.progressed();
      long_wait.progressed();
      if (++arrivals % arrivals_between_points == 0) points.visit();
      continue;
    }
    if (Patience::is_quick(quick_turns)) [[likely]] {
      ++quick_turns;
      continue;
    }
    const Turn turn = patience.next_slow(can_sleep(), !gex::oversubscribed() || needs_core());
    if (turn == Turn::again) continue;
    if (turn == Turn::yielded) {
      long_wait.yielded(describe);
    } else {
      struct Look {
        Done& done;
        bool progressed;
        bool is_done;
      } seen{done, false, false};
      long_wait.sleeps(describe);
      sleep_for_wait(
          patience, are_polls_wanted() ? Patience::nap_ns() : Patience::long_nap_ns(),
          [](void* context) noexcept {
            Look& look = *static_cast<Look*>(context);
            look.progressed = poll();
            look.is_done = look.done();
            return look.progressed || look.is_done;
          },
          &seen);
      if (seen.is_done) return;
      if (seen.progressed) {
        quick_turns = 0;
        patience.progressed();
        long_wait.progressed();
      }
    }
    points.visit();
  }
}
}  // namespace detail

/// Polls until `done()`; the condition is read again after every poll. `describe()`: what is waited
/// for, an Op; asked when the wait is a long one. `needs_core()`: whether what is waited for may
/// need this thread's core; asked where there are more ranks than cores. `cause` is for the trace.
template <class Describe, class Done, class NeedsCore>
void wait_until(Describe describe, Done done, NeedsCore needs_core,
                WaitCause cause = WaitCause::completion) noexcept {
  detail::poll_until<detail::NoCancellationPoints>(describe, done, needs_core, cause);
}
template <class Describe, class Done>
void wait_until(Describe describe, Done done, WaitCause cause = WaitCause::completion) noexcept {
  wait_until(
      describe, done, []() noexcept { return true; }, cause);
}

/// `wait_until` for a wait of the client's, in which a thread that is cancelled (pthread_cancel)
/// ends: the caller holds nothing, and leaves nothing of its stack to others.
template <class Describe, class Done, class NeedsCore>
void wait_until_or_cancelled(Describe describe, Done done, NeedsCore needs_core,
                             WaitCause cause = WaitCause::completion) {
  detail::poll_until<CancellationPoints>(describe, done, needs_core, cause);
}
template <class Describe, class Done>
void wait_until_or_cancelled(Describe describe, Done done,
                             WaitCause cause = WaitCause::completion) {
  wait_until_or_cancelled(
      describe, done, []() noexcept { return true; }, cause);
}

}  // namespace gex
