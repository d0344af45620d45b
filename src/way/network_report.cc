#include "way/network_report.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/env.h"
#include "base/error.h"
#include "base/os_signal_frame.h"
#include "core/process.h"

namespace gex {

namespace {

/// The rank that has something to report; 0: none, or it has.
std::atomic<pid_t> reporter{0};
std::atomic<void (*)() noexcept> reported_too{nullptr};

}  // namespace

void report_network_at_exit() {
  const Process& self = process();
  if (self.conduit == nullptr || self.conduit->report == nullptr ||
      !env::boolean(env::Variable::verbose))
    return;
  reporter.store(getpid(), std::memory_order_relaxed);
  std::atexit([] { report_network(); });
}

void report_network() noexcept {
  // Not in a process that the client has forked, nor where the text's memory may be what a signal
  // handler has interrupted.
  pid_t own = getpid();
  if (os::inside_signal_handler() ||
      !reporter.compare_exchange_strong(own, 0, std::memory_order_relaxed))
    return;
  const Process& self = process();
  self.conduit->report(
      [](void* name, const char* text) { inform("%s: %s", static_cast<const char*>(name), text); },
      const_cast<char*>(self.conduit->name));
  if (const auto also = reported_too.load(std::memory_order_relaxed)) also();
}

void report_with_network(void (*also)() noexcept) noexcept {
  reported_too.store(also, std::memory_order_relaxed);
}

}  // namespace gex
