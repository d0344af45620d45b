#include "core/progress.h"

#include <atomic>

#include "base/clock.h"
#include "base/error.h"
#include "core/process.h"
#include "core/thread.h"
#include "job/job.h"
#include "job/job_page.h"

namespace gex {

namespace {

bool deliver_nothing(std::uint32_t) noexcept {
  return false;
}

void watch_nothing() noexcept {
}

Served serve_nothing() noexcept {
  return {};
}
bool has_nothing() noexcept {
  return false;
}

constexpr std::uint64_t no_job = 0;

Deliverer the_deliverer = deliver_nothing;
constexpr unsigned max_pollers = 8;
Poller pollers[max_pollers];
constinit thread_local unsigned polls_since_departure __attribute__((tls_model("initial-exec"))) =
    0;
/// Not after each poll: the watch reads the clock.
constexpr unsigned polls_per_watch = 64;
unsigned poller_count = 0;
void (*the_absence_watch)() noexcept = watch_nothing;

}  // namespace

namespace detail {

constinit thread_local unsigned handler_runs __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local bool is_progress_thread __attribute__((tls_model("initial-exec"))) = false;
constinit shm::BellPlace own_bell;
constinit Server the_server{serve_nothing, has_nothing, has_nothing};
constinit Watched watched{{nullptr, 0, 0, 0, 0, &no_job}};

bool poll_busy(std::uint32_t quiet) noexcept {
  // Over shared memory nothing but a handler may reach a cancellation point.
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  bool progressed;
  {
    const HandlersRun scope;
    progressed = the_deliverer(quiet);
    if (__atomic_load_n(&watched.polls_wanted, __ATOMIC_RELAXED) != 0)
      for (unsigned i = 0; i < poller_count; ++i) progressed |= pollers[i]();
  }
  // It may be what another thread waits for.
  if (progressed) ring_own_waiters();
  // A thread that finds a ring taken by another one has not looked at it.
  if (!progressed && looks_last() && process().threaded) progressed = the_server.has_work();
  const std::uint64_t word = __atomic_load_n(watched.ending, __ATOMIC_RELAXED);
  if (word != 0) [[unlikely]] {
    if (const std::uint32_t look = job::JobPage::look_in(word)) the_observer.polled(look);
    if (!job::JobPage::is_about_an_end(word)) return progressed;
    // Another rank has ended the job: this one exits too, with its streams flushed.
    if (process().job->ending()) process().job->follow();
    // From then on every poll comes here until the end of the job.
    if (polls_since_departure++ % polls_per_watch == 0) the_absence_watch();
  }
  return progressed;
}

}  // namespace detail

bool advance_pollers() noexcept {
  if (!are_polls_wanted()) return false;
  const HandlersRun scope;
  bool progressed = false;
  for (unsigned i = 0; i < poller_count; ++i) progressed |= pollers[i]();
  return progressed;
}

void sleep_for_wait(Patience& patience, std::uint64_t limit_ns, bool (*look)(void* context),
                    void* context) noexcept {
  const std::uint64_t slept_ns = sleep_until_rung(limit_ns, look, context);
  // Something that it found, or a network that is at work, is followed by more.
  if (slept_ns != 0)
    patience.slept(slept_ns);
  else
    patience.progressed();
  // Sleepers poll too seldom for it to be seen otherwise (poll_busy).
  const std::uint64_t word = __atomic_load_n(detail::watched.ending, __ATOMIC_RELAXED);
  if (job::JobPage::is_about_an_end(word)) the_absence_watch();
}

void note_incomplete(OpRecord& record) noexcept {
  // Relaxed, here and below: see show.
  if (record.started.load(std::memory_order_relaxed) == 0)
    record.started.store(ticks(), std::memory_order_relaxed);
}

void LongWait::begin(const Op& op) noexcept {
  job::ThreadStatus& status = this_thread().status;
  show(status.wait, op);
  note_incomplete(status.wait);
  status.waiting_since.store(status.wait.started.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
}

void LongWait::note_progress() noexcept {
  std::atomic<std::uint64_t>& count = this_thread().status.progressed;
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void LongWait::end() noexcept {
  note_progress();
  job::ThreadStatus& status = this_thread().status;
  status.wait.kind.store(OpKind::none, std::memory_order_relaxed);
  status.waiting_since.store(0, std::memory_order_relaxed);
}

void note_condition_wait(bool first) noexcept {
  job::ThreadStatus& status = this_thread().status;
  const Tick now = ticks();
  if (first) status.condition_since.store(now, std::memory_order_relaxed);
  status.condition_seen.store(now, std::memory_order_relaxed);
}

void watch_job() noexcept {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  detail::watched.ending = reinterpret_cast<const std::uint64_t*>(&process().job->ending_word());
}

void register_absence_watch(void (*watch)() noexcept) noexcept {
  the_absence_watch = watch;
}

void watch_inboxes(const gex_Inbox_* inboxes, std::uint32_t count) noexcept {
  detail::watched.inboxes = inboxes;
  __atomic_store_n(&detail::watched.inbox_count, count, __ATOMIC_RELAXED);
  // Where calls are observed each poll is one, because where it is made is checked or recorded.
  if (!is_inline_withdrawn()) gex_proc_.watched = &detail::watched;
}

void leave_inboxes_to_deliverer() noexcept {
  __atomic_store_n(&detail::watched.inbox_count, 0, __ATOMIC_RELAXED);
}

void register_deliverer(Deliverer deliverer) noexcept {
  the_deliverer = deliverer;
}

void register_server(const Server& server) noexcept {
  detail::the_server = server;
}

void register_poller(Poller poller) noexcept {
  if (poller_count == max_pollers) fatal("more than %u pollers registered", max_pollers);
  pollers[poller_count++] = poller;
}

}  // namespace gex
