// How a rank ends: see job.h.

#include <dlfcn.h>
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
#include "boot/deadline.h"
#include "boot/link.h"
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

std::atomic<int> watchdog_code{0};

void arm_watchdog(int code) noexcept {
  watchdog_code.store(code, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = [](int) { _exit(watchdog_code.load(std::memory_order_relaxed)); };
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(flush_seconds);
}

/// A rank that ends keeps its status: launchers terminate what is left once the first has ended,
/// which may be one that only follows.
void ignore_termination() noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &action, nullptr);
}

/// Whether the guardian has let this rank go, or the job is being ended.
bool released(RankState& self) noexcept {
  for (;;) {
    if (self.page.ending()) return true;
    const Received frame = receive_frame(self.control.get(), self.frame, /*wait=*/false);
    if (frame.outcome == Received::Outcome::would_block) return false;
    if (frame.outcome != Received::Outcome::frame) return true;
    if (frame.header.kind == FrameKind::farewell || frame.header.kind == FrameKind::ending) {
      return true;
    }
  }
}

/// Waits until every rank has left. Others may still need this one: the core's poll is called, at
/// full speed at first, then, so as not to take a core from those that work, with short sleeps
/// between. `serve`: it may run handlers.
void wait_for_others(RankState& self, bool serve) noexcept {
  constexpr int full_speed = 10'000;
  const timespec nap{0, 50'000};
  for (int round = 0; !released(self); ++round) {
    const auto idle_poll = self.idle_poll.load(std::memory_order_acquire);
    pollfd readable{self.control.get(), POLLIN, 0};
    if (idle_poll == nullptr) {
      ppoll(&readable, 1, nullptr, nullptr);
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

/// Tells the guardian that this rank leaves the job; `ends`: by gasnet_exit(0). False if nobody is
/// there to be told.
bool leave(RankState& self, bool ends) noexcept {
  if (self.left.exchange(true, std::memory_order_relaxed)) return true;
  if (!ends) self.returned.store(true, std::memory_order_relaxed);
  FrameHeader frame;
  frame.kind = FrameKind::leave;
  frame.code = ends ? 1 : 0;
  while (!self.page.ending()) {
    const Sent sent = send_frame(self.control.get(), frame, {}, -1, /*wait=*/true);
    if (sent == Sent::closed) return false;
    if (sent == Sent::whole) break;
  }
  return true;
}

/// Runs inside exit().
void at_exit(int status, void*) noexcept {
  RankState& self = *rank_state.load(std::memory_order_relaxed);
  // A child that the client forked has inherited this handler, not the rank.
  if (getpid() != self.process || self.origin == Origin::singleton) return;
  if ((status & 0xff) != 0) {
    ignore_termination();
    const int code = self.page.claim({status, self.rank, /*death=*/false, /*by_exit=*/true}).code;
    announce_end(self, code);
    leave_launcher(self);
    return;
  }
  if (self.page.ending()) return;
  // While this rank waits its output should be there to read.
  flush_streams();
  if (!leave(self, /*ends=*/false)) return;
  wait_for_others(self, /*serve=*/true);
  leave_launcher(self);
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
  if (getpid() != self.process) _exit(code & 0xff);
  // A success is agreed on: see exit_grace. Nobody waits for one who fails.
  const bool agrees = (code & 0xff) == 0 && self.control && !self.page.ending();
  int final_code = 0;
  if (!agrees) {
    ignore_termination();
    final_code = self.page.claim({code, self.rank}).code;
    announce_end(self, final_code);
  }
  const pid_t thread = os::thread_id();
  pid_t first = 0;
  if (!self.ending_thread.compare_exchange_strong(first, thread, std::memory_order_relaxed)) {
    // A signal handler that interrupted this thread's own end must not start over.
    if (first == thread) _exit(final_code);
    // Another thread is about to end the process.
    for (;;) pause();
  }
  arm_watchdog(final_code);
  flush_streams();
  if (agrees) {
    alarm(0);
    // It may be that a handler, a signal handler or the holder of a lock ends the job.
    if (leave(self, /*ends=*/true)) wait_for_others(self, /*serve=*/false);
    final_code = self.page.end().code;
    arm_watchdog(final_code);
  }
  // Else the launcher would kill the others, and their status would be that. Of a signal it knows
  // by itself.
  if (final_code <= 128) leave_launcher(self);
  _exit(final_code);
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
  end(code);
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
