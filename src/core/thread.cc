#include "core/thread.h"

#include <pthread.h>

#include <mutex>
#include <new>

#include "base/env.h"
#include "base/error.h"
#include "base/os_process.h"
#include "core/process.h"

namespace gex {

static_assert(sizeof(ThreadRecord) <= job::RankStatus::thread_bytes);
static_assert(std::is_standard_layout_v<Counters> && sizeof(Counters) == sizeof(job::PartCounts));
static_assert(ec_count == job::count_categories);
static_assert(offsetof(job::ShownThread, status) == sizeof(Counters));

constinit thread_local ThreadRecord* current_thread_record
    __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

struct Records {
  std::mutex mutex;
  ThreadRecord* all = nullptr;
  std::uint64_t count = 0;
  std::uint64_t live = 0;
  pthread_key_t key{};
};
Records& records() noexcept {
  static auto* instance = [] {
    auto* made = new Records;
    // A key's destructor runs at the end of each thread that has a record.
    pthread_key_create(&made->key, [](void* record) {
      // Another key's destructor may call the library after this one; then it enters anew.
      current_thread_record = nullptr;
      Records& self = records();
      const std::lock_guard lock(self.mutex);
      --self.live;
      auto& ended = *static_cast<ThreadRecord*>(record);
      ended.status.kernel_thread.store(0, std::memory_order_relaxed);
      // Release: the next owner sees the record as its last owner left it.
      ended.in_use.store(false, std::memory_order_release);
    });
    return made;
  }();
  return *instance;
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
  Records& self = records();
  const std::lock_guard lock(self.mutex);
  if (gex_proc_.jobsize != 0 && self.live >= max_threads())
    fatal("more than %lu threads inside the library at once (GASNET_%s%s)",
          static_cast<unsigned long>(max_threads()), mode_name(gex_proc_.mode),
          gex_proc_.mode == GEX_MODE_SEQ_ ? "" : ", GASNET_MAX_THREADS");
  ThreadRecord* record = nullptr;
  for (ThreadRecord* r = self.all; r != nullptr; r = r->next) {
    // A record whose operations are still under way is left alone until they have completed.
    if (!r->in_use.load(std::memory_order_acquire) && r->implicit.all_done()) {
      record = r;
      break;
    }
  }
  if (record == nullptr) {
    std::byte* const shown = job::RankStatus::own().claim_thread();
    record = shown != nullptr ? new (shown) ThreadRecord : new ThreadRecord;
    record->number = static_cast<std::uint32_t>(++self.count);
    record->next = self.all;
    self.all = record;
  }
  ++self.live;
  record->in_use.store(true, std::memory_order_relaxed);
  record->handler_depth = 0;
  record->held_locks = 0;
  record->interrupts_held = false;
  record->calls = 0;
  record->operator_depth = 0;
  record->region = nullptr;
  record->request_descriptor.open = false;
  record->reply_descriptor.open = false;
  record->peer_completion = {};
  record->status.number.store(record->number, std::memory_order_relaxed);
  record->status.kernel_thread.store(os::thread_id(), std::memory_order_relaxed);
  pthread_setspecific(self.key, record);
  current_thread_record = record;
  // Before that there is no network.
  if (gex_proc_.jobsize != 0) enter_lane(*record);
  return *record;
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
