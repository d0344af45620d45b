#pragma once
// How a thread that waits sleeps until another thread or rank has something for it.
//
// Each rank has a bell (shm/doorbell.h) in the shared memory, on which its threads sleep while they
// wait in a call. What stores something that a thread may wait for rings its bell after it:
//
//  - a message to a neighbor, where the mark of its ring is set; room for its messages, the end of
//    its requests, its slab: that neighbor's bell (am/);
//  - what all members of a team look at, flags of barriers and posts of collectives, the bells of
//    all who sleep: `ring_neighbors`;
//  - a thread of this process which has delivered or completed something for other threads of it:
//    `ring_own_waiters`.
//
// While no thread sleeps, as where messages come fast, each of these is one load.
//
// What comes over a network wakes the thread that has the watch of it (core/network_watch.h).
//
// Each sleep has a limit (base/patience.h), so that a rank goes on even if no bell rings for it.

#include <atomic>
#include <cstdint>

#include "core/process.h"
#include "shm/doorbell.h"

namespace gex {

namespace detail {
/// The state that ringers and sleepers of this process read.
struct Waiting {
  shm::SleeperCount* sleepers;   ///< of the neighborhood
  shm::Doorbell* own = nullptr;  ///< null: no other thread waits in this process
  bool naps = true;              ///< nothing wakes it for what comes over the network
};
extern constinit Waiting waiting;
[[gnu::cold]] void ring_all_neighbors() noexcept;
/// Returns true if others want the core, or the client has asked for sleeps.
bool may_nap() noexcept;
/// The calling thread looks for the last time before it sleeps.
extern constinit thread_local bool last_look __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// Start-up only: once the neighborhood and the network are there.
void set_up_waiting() noexcept;
/// Start-up only: what sets the marks of all rings from which this process takes messages.
void register_marks(void (*set_marks)() noexcept) noexcept;

/// Returns true if a thread that waits may sleep: something wakes it for all that it may wait for,
/// or it naps, because others want the core.
inline bool can_sleep() noexcept {
  return !detail::waiting.naps || detail::may_nap();
}

/// Returns true if neighbors may sleep that have not seen what the caller has stored.
inline bool any_neighbor_sleeps() noexcept {
  return detail::waiting.sleepers->any();
}

/// The caller has stored something that threads of any neighbors may wait for.
inline void ring_neighbors() noexcept {
  if (any_neighbor_sleeps()) [[unlikely]]
    detail::ring_all_neighbors();
}

/// The caller has done something that other threads of this process may wait for.
inline void ring_own_waiters() noexcept {
  if (detail::waiting.own != nullptr) detail::waiting.own->ring();
}

/// Returns true if the calling thread is about to sleep unless it finds what it waits for now: it
/// must look at all that it could be woken for.
inline bool looks_last() noexcept {
  return detail::last_look;
}

/// Sleeps until a ring or a message, at most `limit_ns`, unless `look(context)` finds something;
/// returns for how long, in ns: 0 if it did not. Where nothing wakes a thread for messages of the
/// network it sleeps for some tens of microseconds. Only where `can_sleep`. Not a cancellation
/// point.
std::uint64_t sleep_until_rung(std::uint64_t limit_ns, bool (*look)(void* context),
                               void* context) noexcept;

}  // namespace gex
