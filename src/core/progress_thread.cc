#include "core/progress_thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/os_cpu.h"
#include "base/os_futex.h"
#include "base/os_task_limits.h"
#include "base/os_thread.h"
#include "base/os_time_slice.h"
#include "base/spin.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/thread.h"

namespace gex {

namespace {

/// It looks for so long after it has delivered something before it sleeps.
constexpr std::uint64_t spin_ns = 20'000;
/// Naps grow from the first to the last while nothing happens.
constexpr std::uint64_t min_nap_ns = 50'000;
constexpr std::uint64_t max_nap_ns = 1'000'000;
/// After so many looks in a row that found nothing it sleeps without a limit, if a bell rings for
/// all that may come.
constexpr unsigned looks_before_sleep = 5;
/// How long an exit waits for the thread to leave what it is doing.
constexpr std::uint64_t stop_ns = 2'000'000'000;

enum State : std::uint32_t { not_started, running, stopped };

struct ProgressThread {
  std::atomic<bool> taken{false};  ///< started, or given to a client
  std::atomic<std::uint32_t> state{not_started};
  std::atomic<bool> stopping{false};
  pid_t process = 0;
  std::thread own;  ///< if the library has started it
};
Immortal<ProgressThread> the_thread;

/// Returns true if messages come in ways that ring no bell.
bool has_silent_ways() noexcept {
  const Process& self = process();
  return self.conduit != nullptr && self.neighborhood.size() < self.job->size();
}

void nap_unreachably() noexcept {
  const timespec nap{0, static_cast<long>(max_nap_ns)};
  nanosleep(&nap, nullptr);
}

/// How long it may sleep while nothing happens.
class Pace {
 public:
  void worked() noexcept {
    nap_ = min_nap_ns;
    quiet_ = 0;
    last_work_ = ticks();
  }
  /// It was about to sleep without a limit, and may not.
  void pending() noexcept {
    nap_ = min_nap_ns;
    quiet_ = 0;
  }
  void attended() noexcept {
    nap_ = max_nap_ns;
    quiet_ = 0;
  }
  bool is_spinning() const noexcept { return !oversubscribed() && ticks() - last_work_ < spin_; }
  /// The limit of the next sleep; 0: none. `rings`: a bell rings for all that may come.
  std::uint64_t next_limit(bool rings) noexcept {
    const std::uint64_t nap = nap_;
    nap_ = std::min(2 * nap, max_nap_ns);
    if (quiet_ < looks_before_sleep) ++quiet_;
    return rings && quiet_ == looks_before_sleep ? 0 : nap;
  }

 private:
  const Tick spin_ = ns_to_ticks(spin_ns);
  Tick last_work_ = 0;
  std::uint64_t nap_ = min_nap_ns;
  unsigned quiet_ = 0;
};

void serve_until_stopped(const ProgressThread& self, shm::Doorbell& bell) noexcept {
  const Server& server = detail::the_server;
  const bool always_naps = has_silent_ways() || !shm::Doorbell::is_exact();
  Pace pace;
  // It never computes for long, and those that it serves wait for it.
  os::shorten_time_slice();
  while (!self.stopping.load(std::memory_order_relaxed)) {
    const Served served = server.serve();
    // Threads of the client that poll advance those as well.
    const bool advanced = !served.attended && advance_pollers();
    if (served.progressed || advanced) {
      pace.worked();
      ring_own_waiters();
      continue;
    }
    if (served.attended || served.blocked) {
      pace.attended();
      nap_unreachably();
      continue;
    }
    if (pace.is_spinning()) {
      spin_pause();
      continue;
    }
    if (served.soon) {
      os::yield();
      continue;
    }
    const std::uint64_t limit =
        pace.next_limit(!always_naps && !served.pending && !are_polls_wanted());
    // Asked again behind the bell's fence: it may have become so since this look.
    bool is_pending = false;
    bell.sleep(limit, [&]() noexcept {
      is_pending = limit == 0 && (are_polls_wanted() || server.is_pending());
      return is_pending || self.stopping.load(std::memory_order_relaxed) || server.has_work();
    });
    if (is_pending) pace.pending();
  }
}

/// Signals are for the client's threads, but for those that an instruction of this one raises.
sigset_t signals_for_others() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&set, signal);
  return set;
}

void run() noexcept {
  ProgressThread& self = the_thread.get();
  const sigset_t others = signals_for_others();
  pthread_sigmask(SIG_BLOCK, &others, nullptr);
  pthread_setname_np(pthread_self(), "gex-progress");
  enter_progress_thread();
  detail::is_progress_thread = true;
  const shm::Neighborhood& neighborhood = process().neighborhood;
  shm::Doorbell& bell = neighborhood.doorbell(neighborhood.local_index());
  detail::own_bell.set(bell);
  serve_until_stopped(self, bell);
  // Release: what this thread did precedes what the one that stops it does.
  self.state.store(stopped, std::memory_order_release);
  os::wake_waiters(self.state);
}

/// An exit handler: what the thread uses goes next, a network's library for example.
void stop() noexcept {
  ProgressThread& self = the_thread.get();
  // A process that the client has forked has no such thread.
  if (getpid() != self.process || self.state.load(std::memory_order_relaxed) != running) return;
  self.stopping.store(true, std::memory_order_relaxed);
  constexpr std::uint64_t look_again_ns = 10'000'000;
  for (const std::uint64_t until = now_ns() + stop_ns;
       self.state.load(std::memory_order_acquire) != stopped && now_ns() < until;) {
    wake_progress_thread();
    os::wait_while(self.state, running, look_again_ns);
  }
  if (!self.own.joinable()) return;
  if (self.state.load(std::memory_order_acquire) == stopped)
    self.own.join();
  else
    self.own.detach();
}

/// It runs from here on, or will at once.
void note_start() noexcept {
  ProgressThread& self = the_thread.get();
  self.process = getpid();
  self.state.store(running, std::memory_order_relaxed);
  std::atexit(stop);
}

/// A client's thread runs this. It does not return, as the specification has it.
void* run_for_client(void*) noexcept {
  note_start();
  run();
  for (;;) pause();
}

bool take() noexcept {
  return has_progress_thread() && !the_thread.get().taken.exchange(true, std::memory_order_relaxed);
}

}  // namespace

bool has_progress_thread() noexcept {
  const std::vector<bool>& ranks = process().progress_threads;
  return !ranks.empty() && ranks[own_host().index_of(gex_proc_.jobrank)];
}

void start_progress_thread() noexcept {
  if (!take()) return;
  ProgressThread& self = the_thread.get();
  note_start();
  // It must not take a signal before it blocks them itself.
  const sigset_t others = signals_for_others();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &others, &before);
  const int error = os::start_thread(self.own, run);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    fatal("GEX_PROGRESS_THREAD=1: the progress thread cannot be started: %s",
          os::describe_task_error(error).c_str());
}

const gex_ProgressThreadInfo_t* give_progress_thread() noexcept {
  if (!take()) return nullptr;
  static const gex_ProgressThreadInfo_t info{process().conduit_name.c_str(),
                                             GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND,
                                             run_for_client, nullptr};
  return &info;
}

}  // namespace gex
