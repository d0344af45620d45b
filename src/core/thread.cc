#include "core/thread.h"

#include <pthread.h>

#include <mutex>
#include <new>

#include "base/cancellation.h"
#include "base/env.h"
#include "base/error.h"
#include "base/os_process.h"
#include "core/process.h"

namespace gex {

static_assert(sizeof(ThreadRecord) <= job::RankStatus::thread_bytes);
static_assert(std::is_standard_layout_v<Counters> && sizeof(Counters) == sizeof(job::PartCounts));
static_assert(ec_count == job::count_categories);
static_assert(offsetof(job::ShownThread, status) == sizeof(Counters));
static_assert(offsetof(job::ShownThread, open_region) == offsetof(ThreadRecord, region));

constinit thread_local ThreadRecord* current_thread_record
    __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr unsigned max_renewals = 4;
using Renew = void (*)(ThreadRecord& thread) noexcept;
constinit Renew renewals[max_renewals] = {};
constinit unsigned renewal_count = 0;

struct Records {
  std::mutex mutex;
  ThreadRecord* all = nullptr;
  std::uint64_t count = 0;
  pthread_key_t key{};
};
Records& records() noexcept {
  static auto* instance = [] {
    auto* made = new Records;
    // A thread's record is its own until it has ended: destructors of other keys may still call.
    pthread_key_create(&made->key, [](void* argument) {
      auto& record = *static_cast<ThreadRecord*>(argument);
      record.status.kernel_thread.store(0, std::memory_order_relaxed);
      record.owner.will_end();
    });
    return made;
  }();
  return *instance;
}

/// A record that the calling thread may take over, and has locked; null if there is none. `live`:
/// threads that have one.
ThreadRecord* take_over(const Records& self, std::uint64_t& live) noexcept {
  ThreadRecord* found = nullptr;
  for (ThreadRecord* r = self.all; r != nullptr; r = r->next) {
    if (!r->owner.try_take()) {
      ++live;
      continue;
    }
    // A record whose operations are still under way is left alone until they have completed.
    if (found == nullptr && r->implicit.all_done())
      found = r;
    else
      r->owner.give_up();
  }
  return found;
}

}  // namespace

std::uint64_t max_threads() noexcept {
  if (gex_proc_.mode == GEX_MODE_SEQ_) return 1;
  static const std::uint64_t limit = [] {
    const std::int64_t value = env::integer(env::Variable::max_threads);
    if (value < 1) fatal("GASNET_MAX_THREADS=%ld: expected at least 1", long{value});
    return static_cast<std::uint64_t>(value);
  }();
  return limit;
}

ThreadRecord& enter_thread() noexcept {
  // A network may open what it has for one more thread.
  const CancellationDisabled uncancelled;
  Records& self = records();
  const std::lock_guard lock(self.mutex);
  std::uint64_t live = 0;
  ThreadRecord* record = take_over(self, live);
  if (gex_proc_.jobsize != 0 && live >= max_threads())
    fatal("more than %lu threads inside the library at once (GASNET_%s%s)",
          static_cast<unsigned long>(max_threads()), mode_name(gex_proc_.mode),
          gex_proc_.mode == GEX_MODE_SEQ_ ? "" : ", GASNET_MAX_THREADS");
  if (record == nullptr) {
    std::byte* const shown = job::RankStatus::own().claim_thread();
    record = shown != nullptr ? new (shown) ThreadRecord : new ThreadRecord;
    record->number = static_cast<std::uint32_t>(++self.count);
    record->owner.try_take();
    record->next = self.all;
    self.all = record;
  }
  record->handler_depth = 0;
  record->held_locks = 0;
  record->interrupts_held = false;
  record->operator_depth = 0;
  record->region = nullptr;
  for (unsigned i = 0; i < renewal_count; ++i) renewals[i](*record);
  record->status.number.store(record->number, std::memory_order_relaxed);
  record->status.kernel_thread.store(os::thread_id(), std::memory_order_relaxed);
  pthread_setspecific(self.key, record);
  current_thread_record = record;
  // Before that there is no network.
  if (gex_proc_.jobsize != 0) enter_lane(*record);
  return *record;
}

void register_renewal(void (*renew)(ThreadRecord& thread) noexcept) noexcept {
  if (renewal_count == max_renewals) fatal("more than %u renewals registered", max_renewals);
  renewals[renewal_count++] = renew;
}

ThreadRecord& enter_progress_thread() noexcept {
  // For the life of the process, as all records.
  auto* const record = new ThreadRecord;
  record->number = progress_thread_number;
  current_thread_record = record;
  return *record;
}

void enter_lane(const ThreadRecord& thread) noexcept {
  const net::Conduit* const conduit = process().conduit;
  if (conduit != nullptr && conduit->enter_lane != nullptr) conduit->enter_lane(thread.number - 1);
}

}  // namespace gex
