#pragma once
// Events: one object holds a root and its leaves.
//
// A handle is the object's address with the leaf's category in the low bits and the object's
// generation in the top 16, so that a handle whose root has been consumed is recognised. Objects
// are never unmapped; free ones are kept in short lists per thread, and a list that grows too long
// (one thread makes events, another consumes them) gives a batch to a common pool.
//
// An event counts parts of operations by category (Counters). A non-blocking put has one category,
// an access region all five. Or it has a probe: a function that returns whether something of which
// no parts are counted, a collective operation for example, is done.

#include "core/op.h"
#include "core/thread.h"

namespace gex {

/// An event of number `sequence` of a `subject` is asked by this function; any thread may ask.
struct Probe {
  using Question = bool(void* subject, std::uint32_t sequence) noexcept;

  Question* done;        ///< whether it has happened
  Question* needs_core;  ///< whether it may need the asking thread's core; null: it may
};

/// The second line is for reports of what is in flight; see job::ShownEvent.
struct alignas(cache_line) Event : BasicEvent<StdCompletion> {
  bool is_region;
  std::uint32_t sequence;
  const Probe* probe;
  union {
    void* subject;
    Event* next;
  };
  OpRecord op;  ///< of the last generation that was an operation; of a region, its last operation

  bool done() noexcept {
    return probe != nullptr ? probe->done(subject, sequence) : counters.all_done();
  }
  bool needs_core() noexcept {
    return probe == nullptr || probe->needs_core == nullptr || probe->needs_core(subject, sequence);
  }
};
static_assert(sizeof(Event) == 2 * cache_line);
static_assert(sizeof(Event) == job::RankStatus::event_bytes);

inline Counters& ThreadRecord::implicit_counters() noexcept {
  return region != nullptr ? region->counters : implicit;
}
inline job::OpRecord& ThreadRecord::implicit_op(Category_index category) noexcept {
  return region != nullptr ? region->op : status.implicit[category];
}

/// A fresh event with no parts, no probe.
Event& allocate_event(ThreadRecord& thread) noexcept;
/// Ends the generation and puts the object back.
void free_event(ThreadRecord& thread, Event& event) noexcept;

/// The handle of an event's root.
inline gex_Event_t handle_of(const Event& event) noexcept {
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<std::uintptr_t>(&event) |
                                       (std::uintptr_t{event.generation} << 48));
}

/// Returns true if a call is given a variable for local completion, not a predefined constant.
inline bool has_variable(const gex_Event_t* lc_opt) noexcept {
  return reinterpret_cast<std::uintptr_t>(lc_opt) >
         reinterpret_cast<std::uintptr_t>(GEX_EVENT_GROUP);
}

/// 0 and success consumed, or GASNET_ERR_NOT_READY.
int test_event(gex_Event_t handle) noexcept;
/// A cancellation point of the thread's, as all waits here but the next one are.
void wait_event(gex_Event_t handle);
/// Waits in a blocking operation, whose buffers are in use until it is complete.
void finish_event(gex_Event_t handle) noexcept;
int test_some(gex_Event_t* events, std::size_t count) noexcept;
int test_all(gex_Event_t* events, std::size_t count) noexcept;
void wait_some(gex_Event_t* events, std::size_t count);
void wait_all(gex_Event_t* events, std::size_t count);
/// Describes what a wait for an event waits for; it counts as incomplete from now on.
Op op_of(gex_Event_t handle) noexcept;
gex_Event_t query_leaf(gex_Event_t root, gex_EC_t category) noexcept;

void begin_region() noexcept;
gex_Event_t end_region() noexcept;
int test_implicit(gex_EC_t mask) noexcept;
void wait_implicit(gex_EC_t mask);

}  // namespace gex
