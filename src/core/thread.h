#pragma once
// The thread record: what the library keeps for each thread that calls it.
//
// Implicit operations are counted here, the record shows whether the thread is in handler context,
// and rooms above keep what they have of the thread in its slots. It is found through one
// initial-exec thread-local pointer, until the very end of the thread: destructors of its keys,
// whichever was made first, find its operations. A record outlives its thread until its implicit
// operations have drained; then another thread takes it over.

#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"
#include "base/lifetime_lock.h"
#include "base/tsan.h"
#include "core/completion.h"
#include "core/observer.h"
#include "core/slots.h"
#include "job/rank_status.h"

namespace gex {

/// Completes `parts` parts. Any thread.
inline void complete(CompletionTarget target, std::uint32_t parts = 1) noexcept {
  order_through_peer_ends(target);
  if ((reinterpret_cast<std::uintptr_t>(target) & followed_tag) != 0) [[unlikely]]
    return detail::the_observer.complete(target, parts);
  complete_parts<StdCompletion>(*target, parts);
}

using Counters = BasicCounters<StdCompletion>;

struct Event;

/// The state that rooms above keep with a thread, each in a slot of its own (core/slots.h).
enum class ThreadSlot : unsigned {
  links,            ///< am: by jobrank, the links by which the thread sends
  lanes,            ///< am: what else the thread has of its lane
  messages,         ///< am: payloads that are built or delivered here
  observed,         ///< observe
  peer_completion,  ///< vis
  value_gets,       ///< legacy
  count
};

struct alignas(cache_line) ThreadRecord {
  Counters implicit{};       ///< first, and its status behind it: job::ShownThread
  job::ThreadStatus status;  ///< what other processes see of it
  Event* region = nullptr;   ///< event of the open access region; shown too
  Event* free_events = nullptr;
  std::uint32_t free_event_count = 0;
  std::uint32_t number = 0;          ///< from 1
  std::uint32_t handler_depth = 0;   ///< handlers on this thread's stack
  std::uint32_t held_locks = 0;      ///< HSLs held; counted in checked mode only
  std::uint32_t operator_depth = 0;  ///< in a client's reduction operator; checked mode only
  bool interrupts_held = false;      ///< in a no-interrupt section; set in checked mode only
  LifetimeLock owner;                ///< taken by the record's thread
  ThreadRecord* next = nullptr;      ///< all records, for reuse
  Slots<ThreadSlot> slots;           ///< they stay when another thread takes the record over

  /// Where implicit operations are counted now, and where the last of a category is shown.
  inline Counters& implicit_counters() noexcept;
  inline job::OpRecord& implicit_op(Category_index category) noexcept;
};

extern constinit thread_local ThreadRecord* current_thread_record
    __attribute__((tls_model("initial-exec")));

/// Makes (or takes over) a record for the calling thread.
ThreadRecord& enter_thread() noexcept;

/// Has `renew` called for each record that another thread takes over, by that thread: the rooms
/// above end what the former one has left open. Start-up only.
void register_renewal(void (*renew)(ThreadRecord& thread) noexcept) noexcept;

/// The number of the progress thread, which no thread of the client has.
inline constexpr std::uint32_t progress_thread_number = 0xffff;

/// Makes the record of the calling thread, which is the progress thread. It is not counted among
/// the client's, and not shown to other processes: a rank whose threads all wait may be stuck
/// although this one waits for nothing.
ThreadRecord& enter_progress_thread() noexcept;

/// Passes the calling thread's number to the conduit, if that has lanes.
void enter_lane(const ThreadRecord& thread) noexcept;

/// The calling thread's record.
inline ThreadRecord& this_thread() noexcept {
  ThreadRecord* record = current_thread_record;
  if (record == nullptr) [[unlikely]]
    return enter_thread();
  return *record;
}

/// Maximum number of client threads at once, which gex_System_QueryMaxThreads returns.
std::uint64_t max_threads() noexcept;

}  // namespace gex
