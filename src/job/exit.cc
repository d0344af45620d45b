// The part of Job that ends a rank: see job.h.

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <ostream>

#include "base/cancellation.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/os_process.h"
#include "base/os_signal_frame.h"
#include "job/finalizer.h"
#include "job/job.h"
#include "job/protocol.h"
#include "job/rank_state.h"

namespace gex::job {

/// std::cout and std::clog of the client, null if it has none. The archive contains its own copy of
/// the C++ runtime (src/CMakeLists.txt), whose streams are not those of a client in C++.
extern std::ostream client_cout __asm__("_ZSt4cout") __attribute__((weak, visibility("default")));
extern std::ostream client_clog __asm__("_ZSt4clog") __attribute__((weak, visibility("default")));

namespace {

/// Returns true if the stream exists and is constructed. It is zero memory in a program of which no
/// file includes <iostream>.
bool constructed(const std::ostream* stream) noexcept {
  if (stream == nullptr) return false;
  const void* first_word = nullptr;
  std::memcpy(&first_word, static_cast<const void*>(stream), sizeof first_word);
  return first_word != nullptr;
}

/// Time limit for flushing streams, which can block on a lock of the C library that the interrupted
/// code holds, or on a reader that does not read.
constexpr unsigned flush_seconds = 3;

/// Time limit for finalizing the connection to a foreign launcher.
constexpr unsigned launcher_seconds = 3;

/// Time limit of a finalizer, which all ranks call at the same time.
constexpr unsigned finalize_seconds = 10;

/// Ignores SIGTERM, so that this rank keeps its status: launchers terminate the remaining ranks
/// once the first has ended.
void ignore_termination() noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &action, nullptr);
  // Guardians send SIGCONT together with SIGTERM. It continues a stopped rank even if ignored.
  sigaction(SIGCONT, &action, nullptr);
}

/// Sends the guardian how this rank leaves the job. Returns false if the connection is closed.
/// Async-signal-safe.
bool leave(RankState& self, const Departure& departure) noexcept {
  std::atomic<bool>& sent = departure.ends_job() ? self.ends : self.returned;
  if (sent.exchange(true, std::memory_order_relaxed)) return true;
  if (departure.by_exit) self.returned.store(true, std::memory_order_relaxed);
  FrameHeader frame;
  frame.kind = FrameKind::leave;
  put_departure(frame, departure);
  while (!self.page.ending()) {
    const Sent sent = send_frame(self.control.get(), frame, {}, -1, /*wait=*/true);
    if (sent == Sent::closed) return false;
    if (sent == Sent::whole) break;
  }
  return true;
}

/// Ends the process with `status` if a scope takes longer than `seconds`.
class Watchdog {
 public:
  /// `leaves`: the rank still reports its departure. `expired`, which may be null: reports that the
  /// time is over; async-signal-safe.
  Watchdog(int status, bool leaves, unsigned seconds,
           void (*expired)() noexcept = nullptr) noexcept {
    status_.store(status, std::memory_order_relaxed);
    leaves_.store(leaves, std::memory_order_relaxed);
    expired_.store(expired, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, &handling_before_);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, &mask_before_);
    alarm(seconds);
  }
  ~Watchdog() {
    alarm(0);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    sigaction(SIGALRM, &handling_before_, nullptr);
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  /// Abandons what the scope was doing, but still reports the departure.
  static void on_alarm(int) {
    const int status = status_.load(std::memory_order_relaxed);
    if (const auto expired = expired_.load(std::memory_order_relaxed)) expired();
    if (leaves_.load(std::memory_order_relaxed)) {
      leave(*rank_state.load(std::memory_order_relaxed), {.code = status});
    }
    _exit(status);
  }

  static inline std::atomic<int> status_{0};
  static inline std::atomic<bool> leaves_{false};
  static inline std::atomic<void (*)() noexcept> expired_{nullptr};
  struct sigaction handling_before_ {};
  sigset_t mask_before_{};
};

using Standing = Finalizer::Standing;

constinit Finalizer the_finalizer{"", [](bool) noexcept { return Standing::closed; },
                                  []() noexcept {}};

/// As the finalizer answers, which is not called above what a signal has interrupted.
Standing standing_of_finalizer(bool by_exit) noexcept {
  const Standing standing = the_finalizer.standing(by_exit);
  return standing == Standing::ready && os::inside_signal_handler() ? Standing::stays_open
                                                                    : standing;
}

/// Returns true for the first rank of a host whose finalizer does not end as it should, if it can
/// report that. Never waits: standard error may be a pipe that is full.
bool may_report_finalizer() noexcept {
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  return poll(&writable, 1, 0) == 1 && (writable.revents & POLLOUT) != 0 &&
         rank_state.load(std::memory_order_relaxed)->page.claim_error();
}

void report_unfinalized() noexcept {
  if (!may_report_finalizer()) return;
  note(
      "%s, which all ranks call when a job is over that has initialized it, has not returned "
      "within %u s; this process exits without it (does another rank still wait for a message, or "
      "has it finalized before?)",
      the_finalizer.call, finalize_seconds);
}

/// The exit status of the rank while it calls the finalizer; otherwise negative.
constinit std::atomic<int> finalizing_status{-1};

/// An exit handler: the finalizer has called exit, as MPICH's does when it fails. The job is over,
/// no rank waits for this one, and it has its status.
void exit_in_finalizer(int code, void*) noexcept {
  const int status = finalizing_status.load(std::memory_order_relaxed);
  if (status < 0) return;
  if (may_report_finalizer())
    note(
        "%s, which all ranks call when a job is over that has initialized it, has failed and "
        "called exit(%d); this process exits with %d all the same",
        the_finalizer.call, code & 0xff, status);
  std::fflush(nullptr);
  _exit(status);
}

void finalize_watched(int status) noexcept {
  const Watchdog watchdog(status, /*leaves=*/false, finalize_seconds, report_unfinalized);
  finalizing_status.store(status, std::memory_order_relaxed);
  // Not in at_exit, which may be the caller, and is called once.
  on_exit(exit_in_finalizer, nullptr);
  the_finalizer.finalize();
  finalizing_status.store(-1, std::memory_order_relaxed);
}

void flush_watched(int status, bool leaves) noexcept {
  const Watchdog watchdog(status, leaves, flush_seconds);
  flush_streams();
}

/// Why a rank that has left may exit now.
enum class Release {
  none,      ///< it may not yet
  job_ends,  ///< or the connection to the guardian is closed
  all_left,  ///< all ranks have left with 0
  finalize,  ///< all ranks have left with 0, and call their finalizers
};

Release released(RankState& self) noexcept {
  for (;;) {
    if (self.page.ending()) return Release::job_ends;
    FrameHeader header;
    const Received::Outcome outcome = receive_header(self.control.get(), header);
    if (outcome == Received::Outcome::would_block) return Release::none;
    if (outcome != Received::Outcome::frame || header.kind == FrameKind::ending)
      return Release::job_ends;
    if (header.kind == FrameKind::release)
      return header.code == 1 ? Release::finalize : Release::all_left;
  }
}

/// Waits until every rank has left or the job ends. Calls the core's poll meanwhile, since other
/// ranks may still need this one: first without pauses, then with short sleeps, to leave the core
/// to ranks that work; the longer, the more ranks share it. `serve`: the poll may run handlers.
Release wait_for_others(RankState& self, bool serve) noexcept {
  const auto crowd = static_cast<long>(self.ranks_per_core.load(std::memory_order_relaxed));
  const long polls_before_sleeping = 10'000 / crowd;
  const timespec short_sleep{0, std::min(50'000 * crowd, 200'000'000L)};
  // Another thread may receive the frame that would end this wait.
  const timespec long_sleep{0, 20'000'000};
  // A signal handler may have interrupted the conduit.
  const bool may_poll = !os::inside_signal_handler();
  for (long round = 0;; ++round) {
    const Release release = released(self);
    if (release != Release::none) return release;
    const auto idle_poll = self.idle_poll.load(std::memory_order_acquire);
    pollfd readable{self.control.get(), POLLIN, 0};
    if (idle_poll == nullptr || !may_poll) {
      ppoll(&readable, 1, &long_sleep, nullptr);
      continue;
    }
    idle_poll(serve);
    if (round < polls_before_sleeping) {
      sched_yield();
    } else {
      ppoll(&readable, 1, &short_sleep, nullptr);
    }
  }
}

/// The exit handler.
void at_exit(int status, void*) noexcept {
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  // A child that the client has forked inherits this handler, but is not the rank.
  if (getpid() != self.process || self.origin == Origin::singleton) return;
  // The system uses these bits of the argument of exit().
  const int code = status & 0xff;
  if (self.page.ending()) {
    if (code == 0) return;
    ignore_termination();
    announce_end(self, code);
    leave_launcher(self);
    return;
  }
  // Flush before the wait, so that the output can be read meanwhile.
  if (code == 0) {
    flush_streams();
  } else {
    ignore_termination();
    flush_watched(code, /*leaves=*/true);
  }
  const Standing standing = standing_of_finalizer(/*by_exit=*/true);
  const bool finalizes = code == 0 && standing == Standing::ready;
  const bool stays_open = !finalizes && standing != Standing::closed;
  if (!leave(self, {code, /*by_exit=*/true, stays_open})) return;
  if (wait_for_others(self, /*serve=*/true) == Release::finalize && finalizes)
    finalize_watched(code);
  leave_launcher(self);
}

/// Ends this process, a rank of a job that is ending.
[[noreturn]] void exit_with_job(RankState& self, int status) noexcept {
  const Watchdog watchdog(status, /*leaves=*/false, launcher_seconds);
  // A launcher kills the other ranks if one ends without finalizing, and reports that status. It
  // detects a death by a signal itself.
  if (status <= 128) leave_launcher(self);
  _exit(status);
}

/// Returns true if the calling thread is the first to end this process. Returns false in a signal
/// handler that has interrupted the first thread. Does not return in other threads.
bool is_first_to_end(RankState& self) noexcept {
  const pid_t thread = os::thread_id();
  pid_t first = 0;
  if (self.ending_thread.compare_exchange_strong(first, thread, std::memory_order_relaxed))
    return true;
  if (first == thread) return false;
  for (;;) pause();
}

}  // namespace

void set_finalizer(const Finalizer& finalizer) noexcept {
  the_finalizer = finalizer;
}

void leave_launcher(RankState& self) noexcept {
  // A launcher detects a death itself, and does not answer while it ends the other ranks. MPICH's
  // fails if a rank that it has killed asks to finalize and is gone before the answer.
  if (self.manager && !self.page.end().death) self.manager->leave();
}

void announce_end(RankState& self, int code) noexcept {
  if (!self.control) return;
  FrameHeader end;
  end.kind = FrameKind::end;
  end.code = code;
  // Never waits. If the socket is full, the guardian reads the job page once this process has
  // ended.
  send_frame(self.control.get(), end, {}, -1, /*wait=*/false);
}

void install_exit_handler() {
  on_exit(at_exit, nullptr);
}

void flush_streams() noexcept {
  try {
    for (std::ostream* stream : {&client_cout, &client_clog}) {
      if (constructed(stream) && stream->rdbuf() != nullptr) stream->rdbuf()->pubsync();
    }
  } catch (...) {
    // A client may have enabled exceptions of its streams; no caller catches them here.
  }
  std::fflush(nullptr);
}

const std::atomic<std::uint64_t>& Job::ending_word() const noexcept {
  return rank_state.load(std::memory_order_relaxed)->page.word();
}

bool Job::ending() const noexcept {
  return rank_state.load(std::memory_order_relaxed)->page.ending();
}

void Job::end(int code) noexcept {
  const CancellationDisabled uncancelled;
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  const int status = os::exit_status(code);
  if (getpid() != self.process) _exit(status);
  // Before the others, and so this process's other threads, see that the job ends.
  self.is_ending.store(true, std::memory_order_relaxed);
  if (self.page.ending()) end_at_once(code);
  const bool first = is_first_to_end(self);
  // Once all ranks are here, a launcher may detect the end of another one first and send SIGTERM.
  if (status != 0) ignore_termination();
  if (first) flush_watched(status, /*leaves=*/true);
  const Standing standing = standing_of_finalizer(/*by_exit=*/false);
  const bool finalizes = first && standing == Standing::ready;
  const bool stays_open = !finalizes && standing != Standing::closed;
  Release release = status == 0 ? Release::finalize : Release::job_ends;
  if (!self.control) {
    self.page.claim({status, self.rank});
  } else if (leave(self, {status, /*by_exit=*/false, stays_open})) {
    // The caller may be a handler, a signal handler or hold a lock: do not serve.
    release = wait_for_others(self, /*serve=*/false);
  } else {
    release = Release::job_ends;
  }
  const int final_status = self.page.ending() ? self.page.end().code : status;
  if (finalizes && release == Release::finalize) finalize_watched(final_status);
  exit_with_job(self, final_status);
}

void Job::end_at_once(int code) noexcept {
  const CancellationDisabled uncancelled;
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  if (getpid() != self.process) _exit(os::exit_status(code));
  ignore_termination();
  self.is_ending.store(true, std::memory_order_relaxed);
  const int status = self.page.claim({code, self.rank}).code;
  announce_end(self, status);
  // A signal handler has interrupted the same function in this thread: do not begin it again.
  if (!is_first_to_end(self)) _exit(status);
  flush_watched(status, /*leaves=*/false);
  exit_with_job(self, status);
}

void Job::follow() noexcept {
  const CancellationDisabled uncancelled;
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  const int code = self.page.end().code;
  announce_end(self, code);
  struct sigaction action {};
  if (self.size > 1 && sigaction(SIGQUIT, nullptr, &action) == 0 && action.sa_handler != SIG_DFL &&
      action.sa_handler != SIG_IGN && !self.is_ending.exchange(true, std::memory_order_relaxed)) {
    raise(SIGQUIT);
  }
  end_at_once(code);
}

bool Job::left() const noexcept {
  return rank_state.load(std::memory_order_relaxed)->returned.load(std::memory_order_relaxed);
}

void Job::report_exited_peer(std::uint32_t peer) noexcept {
  const RankState& self = *rank_state.load(std::memory_order_relaxed);
  if (!self.control) return;
  FrameHeader frame;
  frame.kind = FrameKind::wait_on_exited_rank;
  frame.first = peer;
  const CancellationDisabled uncancelled;
  // If the socket is full, this report is lost; callers repeat it.
  send_frame(self.control.get(), frame, {}, -1, /*wait=*/false);
}

void Job::follow_loss() noexcept {
  // A death is detected at once, the loss of a host by missing heartbeats.
  constexpr double report_delay = 0.5;
  constexpr useconds_t short_sleep = 1000;
  for (Deadline until = after(heartbeat_timeout + report_delay); !met(until); usleep(short_sleep)) {
    if (ending()) follow();
  }
}

}  // namespace gex::job
