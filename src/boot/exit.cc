// How a rank ends: see job.h.

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <ostream>

#include "base/os_process.h"
#include "base/os_signal_frame.h"
#include "boot/deadline.h"
#include "boot/job.h"
#include "boot/link.h"
#include "boot/mpi.h"
#include "boot/rank_state.h"

namespace gex::boot {

/// std::cout and std::clog of the client, null where it has none: the archive's own copy of the C++
/// runtime (src/CMakeLists.txt) is not what a client written in C++ prints through.
extern std::ostream client_cout __asm__("_ZSt4cout") __attribute__((weak, visibility("default")));
extern std::ostream client_clog __asm__("_ZSt4clog") __attribute__((weak, visibility("default")));

namespace {

/// Whether the client has that stream and uses it: a program none of whose files includes
/// <iostream> leaves it the zero memory that it starts as.
bool constructed(const std::ostream* stream) noexcept {
  if (stream == nullptr) return false;
  const void* first_word = nullptr;
  std::memcpy(&first_word, static_cast<const void*>(stream), sizeof first_word);
  return first_word != nullptr;
}

/// What the flushing of streams may take. A lock of the C library that the interrupted code holds,
/// or a reader that does not read, would otherwise keep the rank.
constexpr unsigned flush_seconds = 3;

/// What the launcher may take to take leave.
constexpr unsigned launcher_seconds = 3;

/// What MPI may take to be finalized, with all ranks there.
constexpr unsigned finalize_seconds = 10;

/// A rank that ends keeps its status: launchers terminate what is left once the first has ended,
/// which may be one that only follows.
void ignore_termination() noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &action, nullptr);
  // Comes with it, should the rank have been stopped, which it also ends where it is ignored.
  sigaction(SIGCONT, &action, nullptr);
}

/// Tells the guardian how this rank leaves the job. False if nobody is there to be told.
/// Async-signal-safe.
bool leave(RankState& self, const Departure& departure) noexcept {
  std::atomic<bool>& told = departure.ends_job() ? self.ends : self.returned;
  if (told.exchange(true, std::memory_order_relaxed)) return true;
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

/// Ends the process, with its exit status, when a scope takes longer than so many seconds.
class Watchdog {
 public:
  Watchdog(int status, bool leaves, unsigned seconds) noexcept {
    status_.store(status, std::memory_order_relaxed);
    leaves_.store(leaves, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = bite;
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
  /// What was to be done first is given up, but not that the others learn of this end.
  static void bite(int) {
    const int status = status_.load(std::memory_order_relaxed);
    if (leaves_.load(std::memory_order_relaxed)) {
      leave(*rank_state.load(std::memory_order_relaxed), {.code = status});
    }
    _exit(status);
  }

  static inline std::atomic<int> status_{0};
  static inline std::atomic<bool> leaves_{false};
  struct sigaction handling_before_ {};
  sigset_t mask_before_{};
};

void flush_watched(int status, bool leaves) noexcept {
  const Watchdog watchdog(status, leaves, flush_seconds);
  flush_streams();
}

/// Why a rank that has left goes on to its end.
enum class Release {
  none,          ///< it does not yet
  job_ends,      ///< or its guardian is gone
  all_left,      ///< with 0
  finalize_mpi,  ///< the same, and MPI can be finalized in all of them
};

Release released(RankState& self) noexcept {
  for (;;) {
    if (self.page.ending()) return Release::job_ends;
    FrameHeader header;
    const Received::Outcome outcome = receive_header(self.control.get(), header);
    if (outcome == Received::Outcome::would_block) return Release::none;
    if (outcome != Received::Outcome::frame || header.kind == FrameKind::ending)
      return Release::job_ends;
    if (header.kind == FrameKind::farewell)
      return header.code == 1 ? Release::finalize_mpi : Release::all_left;
  }
}

/// Waits until every rank has left or the job ends. Others may still need this one: the core's poll
/// is called, at full speed at first, then, so as not to take a core from those that work, with
/// short sleeps between. `serve`: it may run handlers.
Release wait_for_others(RankState& self, bool serve) noexcept {
  constexpr int full_speed = 10'000;
  const timespec nap{0, 50'000};
  // Another thread may take from the socket what would end this wait.
  const timespec long_nap{0, 20'000'000};
  // What a signal handler has interrupted may be the conduit.
  const bool may_poll = !os::inside_signal_handler();
  for (int round = 0;; ++round) {
    const Release release = released(self);
    if (release != Release::none) return release;
    const auto idle_poll = self.idle_poll.load(std::memory_order_acquire);
    pollfd readable{self.control.get(), POLLIN, 0};
    if (idle_poll == nullptr || !may_poll) {
      ppoll(&readable, 1, &long_nap, nullptr);
      continue;
    }
    idle_poll(serve);
    if (round < full_speed) {
      sched_yield();
    } else {
      ppoll(&readable, 1, &nap, nullptr);
    }
  }
}

/// Runs inside exit().
void at_exit(int status, void*) noexcept {
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  // A child that the client forked has inherited this handler, not the rank.
  if (getpid() != self.process || self.origin == Origin::singleton) return;
  // Of the status that exit() is given, the system takes these bits.
  const int code = status & 0xff;
  if (self.page.ending()) {
    if (code == 0) return;
    ignore_termination();
    announce_end(self, code);
    leave_launcher(self);
    return;
  }
  // While this rank waits its output should be there to read.
  if (code == 0) {
    flush_streams();
  } else {
    ignore_termination();
    flush_watched(code, /*leaves=*/true);
  }
  if (!leave(self, {code, /*by_exit=*/true, /*keeps_mpi=*/mpi_is_open()})) return;
  wait_for_others(self, /*serve=*/true);
  leave_launcher(self);
}

/// Ends the process as a rank whose job is being ended.
[[noreturn]] void exit_with_job(RankState& self, int status) noexcept {
  const Watchdog watchdog(status, /*leaves=*/false, launcher_seconds);
  // Else the launcher would kill the others, and their status would be that. Of a signal it knows
  // by itself.
  if (status <= 128) leave_launcher(self);
  _exit(status);
}

/// Whether the calling thread is the first that ends this process. Otherwise that is one that a
/// signal handler has interrupted in it; another thread's does not return.
bool begins_end(RankState& self) noexcept {
  const pid_t thread = os::thread_id();
  pid_t first = 0;
  if (self.ending_thread.compare_exchange_strong(first, thread, std::memory_order_relaxed))
    return true;
  if (first == thread) return false;
  for (;;) pause();
}

}  // namespace

void leave_launcher(RankState& self) noexcept {
  // Of a death it knows by itself, and while it ends the others it answers nobody: MPICH's gives up
  // where one whom it has killed is gone before it could be answered.
  if (self.manager && !self.page.end().death) self.manager->leave();
}

void announce_end(RankState& self, int code) noexcept {
  if (!self.control) return;
  FrameHeader end;
  end.kind = FrameKind::end;
  end.code = code;
  // Never waits. Should the socket be full, the guardian learns from the job page when this process
  // ends.
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
    // A client may have asked its streams to throw; there is nobody to catch it here.
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
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  const int status = os::exit_status(code);
  if (getpid() != self.process) _exit(status);
  if (self.page.ending()) end_at_once(code);
  const bool first = begins_end(self);
  // When the others have come a launcher may see another end first, and ends what is left.
  if (status != 0) ignore_termination();
  if (first) flush_watched(status, /*leaves=*/true);
  const bool finalizes_mpi = first && mpi_can_be_finalized();
  Release release = status == 0 ? Release::finalize_mpi : Release::job_ends;
  if (!self.control) {
    self.page.claim({status, self.rank});
  } else if (leave(self,
                   {status, /*by_exit=*/false, /*keeps_mpi=*/!finalizes_mpi && mpi_is_open()})) {
    // It may be that a handler, a signal handler or the holder of a lock ends the job.
    release = wait_for_others(self, /*serve=*/false);
  } else {
    release = Release::job_ends;
  }
  const int final_status = self.page.ending() ? self.page.end().code : status;
  if (finalizes_mpi && release == Release::finalize_mpi) {
    const Watchdog watchdog(final_status, /*leaves=*/false, finalize_seconds);
    finalize_mpi();
  }
  exit_with_job(self, final_status);
}

void Job::end_at_once(int code) noexcept {
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  if (getpid() != self.process) _exit(os::exit_status(code));
  ignore_termination();
  const int status = self.page.claim({code, self.rank}).code;
  announce_end(self, status);
  // What a signal handler has interrupted must not start over.
  if (!begins_end(self)) _exit(status);
  flush_watched(status, /*leaves=*/false);
  exit_with_job(self, status);
}

void Job::follow() noexcept {
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  const int code = self.page.end().code;
  announce_end(self, code);
  static std::atomic<bool> raised{false};
  struct sigaction action {};
  if (self.size > 1 && sigaction(SIGQUIT, nullptr, &action) == 0 && action.sa_handler != SIG_DFL &&
      action.sa_handler != SIG_IGN && !raised.exchange(true, std::memory_order_relaxed)) {
    raise(SIGQUIT);
  }
  end_at_once(code);
}

bool Job::left() const noexcept {
  return rank_state.load(std::memory_order_relaxed)->returned.load(std::memory_order_relaxed);
}

void Job::waits_in_vain(std::uint32_t absent) noexcept {
  const RankState& self = *rank_state.load(std::memory_order_relaxed);
  if (!self.control) return;
  FrameHeader frame;
  frame.kind = FrameKind::vain_wait;
  frame.first = absent;
  // Should the socket be full, it is said again.
  send_frame(self.control.get(), frame, {}, -1, /*wait=*/false);
}

void Job::follow_loss() noexcept {
  // A death is known at once; of a host that vanished there is silence and no more.
  constexpr double time_to_tell = 0.5;
  constexpr useconds_t nap = 1000;
  for (Deadline until = after(silence_limit + time_to_tell); !met(until); usleep(nap)) {
    if (ending()) follow();
  }
}

}  // namespace gex::boot
