#include "observe/backtrace_signal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/os_debugger.h"
#include "core/thread.h"
#include "job/rank_status.h"

namespace gex {

namespace {

/// Async-signal-safe: what the first backtrace loads has been loaded.
void show_backtrace(int, siginfo_t*, void* context) noexcept {
  const int reason = errno;
  const ThreadRecord* const thread = current_thread_record;
  if (thread == nullptr) return;
  job::RankStatus::Backtrace* const shown = job::RankStatus::own().backtrace_of(thread->status);
  if (shown == nullptr) return;
  // The C library writes to a descriptor only; a pipe keeps as much of it as it holds.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    os::print_backtrace(ends[1], os::interrupted_at(context));
    const ssize_t got = read(ends[0], shown->text, sizeof shown->text);
    // Release: a reader that sees the size sees the text.
    shown->bytes.store(got > 0 ? static_cast<std::uint32_t>(got) : 0, std::memory_order_release);
    close(ends[0]);
    close(ends[1]);
  }
  errno = reason;
}

}  // namespace

void accept_backtrace_signal() noexcept {
  // The highest are those that programs and their libraries use last.
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    os::prepare_backtrace();
    action = {};
    action.sa_sigaction = show_backtrace;
    action.sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO;
    if (sigaction(signal, &action, nullptr) == 0) job::RankStatus::own().offer_backtraces(signal);
    return;
  }
}

}  // namespace gex
