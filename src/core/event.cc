#include "core/event.h"

#include <cerrno>
#include <mutex>

#include "base/assert.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/os_mapping.h"
#include "core/process.h"
#include "core/progress.h"

namespace gex {

namespace {

constexpr std::uintptr_t address_mask = (std::uintptr_t{1} << 48) - 64;
constexpr std::uint32_t events_per_chunk = 1024;
constexpr std::uint32_t longest_free_list = 512;
constexpr std::uint32_t batch = 256;

struct Decoded {
  Event* event;
  unsigned leaf;  ///< 0: root; else category index + 1
  bool stale;     ///< the root has been consumed
};

Decoded decode(gex_Event_t handle) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  auto* event = reinterpret_cast<Event*>(bits & address_mask);
  return {event, static_cast<unsigned>(bits & 63),
          !event->is_current(static_cast<std::uint16_t>(bits >> 48))};
}

/// Events that no thread keeps.
struct CommonPool {
  std::mutex mutex;
  Event* free = nullptr;
  std::byte* unused = nullptr;  ///< memory of events that have not been made yet
  std::uint32_t unused_count = 0;

  /// A new one.
  Event* make() noexcept {
    if (unused_count == 0) {
      unused = job::RankStatus::own().claim_events(batch);
      unused_count = batch;
      if (unused == nullptr) {
        os::Mapping chunk = os::Mapping::anonymous(events_per_chunk * sizeof(Event));
        if (!chunk) fatal_system("memory for events", errno);
        unused = chunk.release().data();
        unused_count = events_per_chunk;
      }
      if ((reinterpret_cast<std::uintptr_t>(unused) >> 47) != 0)
        fatal("memory for events lies above the address range that event handles can hold");
    }
    auto* const event = new (unused) Event{};
    event->generation = 1;
    unused += sizeof(Event);
    --unused_count;
    return event;
  }
};
Immortal<CommonPool> the_common_pool;
CommonPool& common_pool() noexcept {
  return the_common_pool.get();
}

void refill(ThreadRecord& thread) noexcept {
  CommonPool& pool = common_pool();
  const std::lock_guard lock(pool.mutex);
  for (std::uint32_t i = 0; i < batch && pool.free != nullptr; ++i) {
    Event* event = pool.free;
    pool.free = event->next;
    event->next = thread.free_events;
    thread.free_events = event;
    ++thread.free_event_count;
  }
  if (thread.free_events != nullptr) return;
  for (std::uint32_t i = 0; i < batch; ++i) {
    Event* event = pool.make();
    event->next = thread.free_events;
    thread.free_events = event;
  }
  thread.free_event_count += batch;
}

[[gnu::cold]] void give_back_batch(ThreadRecord& thread) noexcept {
  CommonPool& pool = common_pool();
  const std::lock_guard lock(pool.mutex);
  for (std::uint32_t i = 0; i < batch; ++i) {
    Event* event = thread.free_events;
    thread.free_events = event->next;
    event->next = pool.free;
    pool.free = event;
  }
  thread.free_event_count -= batch;
}

void require_event(gex_Event_t handle, const char* call) noexcept {
  if (handle == GEX_EVENT_NO_OP) [[unlikely]]
    fatal("%s: GEX_EVENT_NO_OP cannot be tested or waited for", call);
}

/// Returns true if the handle's event has happened; consumes a root that has.
bool try_consume(ThreadRecord& thread, const Decoded& handle) noexcept {
  if (handle.stale) return true;
  if (handle.leaf != 0) return handle.event->counters.done(handle.leaf - 1);
  if (!handle.event->done()) return false;
  free_event(thread, *handle.event);
  return true;
}

void require_current(const Decoded& handle, const char* call) noexcept {
  if (checked() && handle.stale)
    fatal("%s: the event was already synchronised (it, or the root of this leaf)", call);
}

/// Describes what a wait for the handle's event waits for.
Op op_of(const Decoded& handle) noexcept {
  if (!handle.stale) note_incomplete(handle.event->op);
  return shown(handle.event->op);
}

/// Describes what a wait for these events waits for: the first that is pending. All that are
/// pending count as incomplete from now on.
Op op_of(const gex_Event_t* events, std::size_t count) noexcept {
  Op first;
  for (std::size_t i = count; i-- != 0;)
    if (events[i] != GEX_EVENT_INVALID) first = op_of(decode(events[i]));
  return first;
}

}  // namespace

Event& allocate_event(ThreadRecord& thread) noexcept {
  if (thread.free_events == nullptr) [[unlikely]]
    refill(thread);
  Event* event = thread.free_events;
  thread.free_events = event->next;
  GEX_ASSERT(thread.free_event_count != 0);
  --thread.free_event_count;
  event->begin();
  event->is_region = false;
  event->probe = nullptr;
  event->subject = nullptr;
  return *event;
}

void free_event(ThreadRecord& thread, Event& event) noexcept {
  GEX_ASSERT(event.counters.all_done());
  // Handle values of 0 and small ones are kept free by the address, so any generation will do.
  event.end();
  event.next = thread.free_events;
  thread.free_events = &event;
  if (++thread.free_event_count > longest_free_list + batch) [[unlikely]]
    give_back_batch(thread);
}

Op op_of(gex_Event_t handle) noexcept {
  return op_of(decode(handle));
}

int test_event(gex_Event_t handle) noexcept {
  require_event(handle, "gex_Event_Test");
  const Decoded decoded = decode(handle);
  require_current(decoded, "gex_Event_Test");
  if (try_consume(this_thread(), decoded)) return GASNET_OK;
  // A barrier's event is tested again within its time.
  if (decoded.event->probe == nullptr) note_incomplete(decoded.event->op);
  return GASNET_ERR_NOT_READY;
}

namespace {
template <class Points>
void wait_for(gex_Event_t handle) noexcept(noexcept(Points().visit())) {
  require_event(handle, "gex_Event_Wait");
  const Decoded decoded = decode(handle);
  require_current(decoded, "gex_Event_Wait");
  ThreadRecord& thread = this_thread();
  detail::poll_until<Points>(
      [&]() noexcept { return op_of(decoded); },
      [&]() noexcept { return try_consume(thread, decoded); },
      [&]() noexcept { return decoded.leaf != 0 || decoded.event->needs_core(); },
      WaitCause::completion);
}
}  // namespace

void wait_event(gex_Event_t handle) {
  wait_for<CancellationPoints>(handle);
}
void finish_event(gex_Event_t handle) noexcept {
  wait_for<detail::NoCancellationPoints>(handle);
}

namespace {

struct Tally {
  std::size_t pending = 0;
  std::size_t finished = 0;
};

/// Consumes and overwrites what has happened. Leaves first: a leaf whose root is consumed in the
/// same call must still be seen as its leaf, wherever it stands in the array.
Tally sweep(gex_Event_t* events, std::size_t count) noexcept {
  ThreadRecord& thread = this_thread();
  Tally tally;
  bool roots = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i] == GEX_EVENT_INVALID) continue;
    require_event(events[i], "gex_Event test or wait of an array");
    const Decoded decoded = decode(events[i]);
    if (decoded.leaf == 0) {
      roots = true;
      continue;
    }
    if (try_consume(thread, decoded)) {
      events[i] = GEX_EVENT_INVALID;
      ++tally.finished;
    } else {
      ++tally.pending;
    }
  }
  if (!roots) return tally;
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i] == GEX_EVENT_INVALID) continue;
    const Decoded decoded = decode(events[i]);
    if (decoded.leaf != 0) continue;
    if (try_consume(thread, decoded)) {
      events[i] = GEX_EVENT_INVALID;
      ++tally.finished;
    } else {
      ++tally.pending;
    }
  }
  return tally;
}

}  // namespace

int test_some(gex_Event_t* events, std::size_t count) noexcept {
  const Tally tally = sweep(events, count);
  return tally.finished > 0 || tally.pending == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}

int test_all(gex_Event_t* events, std::size_t count) noexcept {
  return sweep(events, count).pending == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}

void wait_some(gex_Event_t* events, std::size_t count) {
  wait_until_or_cancelled([&]() noexcept { return op_of(events, count); },
                          [&]() noexcept { return test_some(events, count) == GASNET_OK; });
}

void wait_all(gex_Event_t* events, std::size_t count) {
  wait_until_or_cancelled([&]() noexcept { return op_of(events, count); },
                          [&]() noexcept { return test_all(events, count) == GASNET_OK; });
}

gex_Event_t query_leaf(gex_Event_t root, gex_EC_t category) noexcept {
  if (root == GEX_EVENT_INVALID) return GEX_EVENT_INVALID;
  require_event(root, "gex_Event_QueryLeaf");
  if (category == 0 || (category & (category - 1)) != 0 || category > GEX_EC_RMW)
    fatal("gex_Event_QueryLeaf: 0x%x is not one event category", category);
  const Decoded decoded = decode(root);
  require_current(decoded, "gex_Event_QueryLeaf");
  if (checked() && decoded.leaf != 0) fatal("gex_Event_QueryLeaf: the event is itself a leaf");
  const auto index = static_cast<unsigned>(__builtin_ctz(category));
  if (checked() && !decoded.event->is_region &&
      (category != GEX_EC_LC || decoded.event->counters.initiated[ec_lc] == 0))
    fatal("gex_Event_QueryLeaf: the operation has no leaf of category 0x%x", category);
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<std::uintptr_t>(root) | (index + 1));
}

void begin_region() noexcept {
  ThreadRecord& thread = this_thread();
  if (thread.region != nullptr)
    fatal("gex_NBI_BeginAccessRegion: an access region is already open in this thread");
  Event& event = allocate_event(thread);
  event.is_region = true;
  thread.region = &event;
}

gex_Event_t end_region() noexcept {
  ThreadRecord& thread = this_thread();
  Event* event = thread.region;
  if (event == nullptr) fatal("gex_NBI_EndAccessRegion: no access region is open in this thread");
  thread.region = nullptr;
  bool used = false;
  for (const std::uint32_t initiated : event->counters.initiated) used = used || initiated != 0;
  if (!used) {
    free_event(thread, *event);
    return GEX_EVENT_INVALID;
  }
  return handle_of(*event);
}

namespace {

bool implicit_done(const Counters& counters, gex_EC_t mask) noexcept {
  for (unsigned c = 0; c < ec_count; ++c)
    if ((mask >> c & 1) != 0 && !counters.done(c)) return false;
  return true;
}

/// Describes what a wait for implicit operations waits for: the last of a category that is not
/// complete.
Op op_of(ThreadRecord& thread, gex_EC_t mask) noexcept {
  Op op;
  for (unsigned c = ec_count; c-- != 0;) {
    if ((mask >> c & 1) == 0 || thread.implicit.done(c)) continue;
    note_incomplete(thread.status.implicit[c]);
    op = shown(thread.status.implicit[c]);
  }
  return op;
}

void require_no_region(const ThreadRecord& thread, const char* call) noexcept {
  if (checked() && thread.region != nullptr)
    fatal("%s: not between gex_NBI_BeginAccessRegion and gex_NBI_EndAccessRegion", call);
}

}  // namespace

int test_implicit(gex_EC_t mask) noexcept {
  ThreadRecord& thread = this_thread();
  require_no_region(thread, "gex_NBI_Test");
  return implicit_done(thread.implicit, mask) ? GASNET_OK : GASNET_ERR_NOT_READY;
}

void wait_implicit(gex_EC_t mask) {
  ThreadRecord& thread = this_thread();
  require_no_region(thread, "gex_NBI_Wait");
  wait_until_or_cancelled([&]() noexcept { return op_of(thread, mask); },
                          [&]() noexcept { return implicit_done(thread.implicit, mask); });
}

}  // namespace gex
