#pragma once
// The events that core passes to the room that observes a rank: waits and operations of traced
// jobs, and polls that the guardian looks at. observe/ registers itself once, at start-up; before
// that, and in jobs that are not observed, no function of an Observer is called.
//
// Thread rules: `observe_by` before there are other threads; the functions of an Observer are
// called by any thread.

#include <cstdint>

#include "core/completion.h"
#include "core/observed.h"
#include "core/wait_cause.h"

namespace gex {

/// These stand for the two targets of an operation that is followed; `local_done` may be null.
struct FollowedTargets {
  CompletionTarget done;
  CompletionTarget local_done;
};

struct Observer {
  /// Traced jobs: a wait begins, and has ended.
  void (*wait_begins)(WaitCause cause) noexcept;
  void (*wait_ends)(WaitCause cause) noexcept;
  /// Traced jobs: the targets by which an operation is injected in place of `done` and
  /// `local_done`, of which the second may be null. They have `followed_tag`, pass completions on
  /// to those words, and put the last one into the trace.
  FollowedTargets (*follow)(CompletionTarget done, CompletionTarget local_done) noexcept;
  /// The operation has been injected in that many parts, and as many complete `local_done`; 0 of
  /// the first: not at all. By the thread that has called `follow`, after it.
  void (*settle)(const FollowedTargets& targets, std::uint32_t parts,
                 std::uint32_t local_parts) noexcept;
  /// Completes parts of a target with `followed_tag`; any thread, also before `settle`.
  void (*complete)(CompletionTarget target, std::uint32_t parts) noexcept;
  /// A thread polls while the guardian looks for the `look`-th time (observe/looked_at.h).
  void (*polled)(std::uint32_t look) noexcept;
};

namespace detail {
extern constinit Observer the_observer;
}  // namespace detail

inline void observe_by(const Observer& observer) noexcept {
  detail::the_observer = observer;
}

/// While one exists, the calling thread waits.
class ObservedWait {
 public:
  explicit ObservedWait(WaitCause cause) noexcept : cause_(cause) {
    if (traced()) [[unlikely]]
      detail::the_observer.wait_begins(cause);
  }
  ~ObservedWait() {
    if (traced()) [[unlikely]]
      detail::the_observer.wait_ends(cause_);
  }
  ObservedWait(const ObservedWait&) = delete;
  ObservedWait& operator=(const ObservedWait&) = delete;

 private:
  const WaitCause cause_;
};

}  // namespace gex
