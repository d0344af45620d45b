#pragma once
// Atomic operations by message: the owner of the target performs them and replies with the old
// value, or with nothing but that it is done.

#include "atomic/operation.h"
#include "core/thread.h"

namespace gex::atomic {

/// Sends the operation to the target's owner; adds one to `done` when it is complete, its result
/// written. Non-zero if `immediate` and there was no room; nothing was sent then.
///
/// Memory order: what this thread did before happens before the operation, which happens before
/// what follows a look at `done` that finds it complete. So ACQ and REL need nothing more.
int ask_owner(const AtomicRequest& operation, CompletionTarget done, bool immediate) noexcept;

void start_remote();

}  // namespace gex::atomic
