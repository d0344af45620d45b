#include "observe/looked_at.h"

#include <time.h>

#include <atomic>

#include "base/clock.h"
#include "core/observed.h"
#include "core/published.h"
#include "core/thread.h"
#include "observe/restricted.h"
#include "observe/thread_part.h"

namespace gex {

namespace {

/// A thread that has used less than that between two polls does nothing but poll. A poll itself
/// takes some microseconds over a network.
constexpr std::uint64_t max_between_polls_ns = 50'000;

/// The look for which displacements were last withdrawn, and whether they are withdrawn now.
constinit std::atomic<std::uint32_t> withdrawn_for{0};
constinit std::atomic<bool> is_withdrawn{false};

std::uint64_t own_processor_time_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// The calling thread alone writes it.
void add(std::atomic<std::uint64_t>& count, std::uint64_t value) noexcept {
  count.store(count.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

}  // namespace

void note_poll(std::uint32_t look) noexcept {
  ThreadRecord& thread = this_thread();
  const std::uint64_t now = own_processor_time_ns();
  observe::ThreadPart& part = observe::part_of(thread);
  const std::uint64_t since_last = now - part.polled_at_ns;
  part.polled_at_ns = now;
  if (part.look != look) {
    part.look = look;
    if (progress_watched() && !is_inline_withdrawn() &&
        withdrawn_for.exchange(look, std::memory_order_relaxed) != look) {
      is_withdrawn.store(true, std::memory_order_relaxed);
      withdraw_displacements();
    }
    return;
  }
  if (since_last >= max_between_polls_ns) return;
  add(thread.status.polled_ns, since_last);
  thread.status.polls_seen.store(ticks(), std::memory_order_relaxed);
}

void note_call(Call call) noexcept {
  if (role_of(call) != CallRole::begins) return;
  add(this_thread().status.operations, 1);
  if (is_withdrawn.load(std::memory_order_relaxed) &&
      is_withdrawn.exchange(false, std::memory_order_relaxed)) {
    restore_displacements();
  }
}

}  // namespace gex
