#pragma once
// Atomic operations by the network, for domains that were made for it (domain.h).

#include "atomic/operation.h"
#include "core/thread.h"

namespace gex::atomic {

/// Returns true if the network has all of `operations` on that type.
bool network_has(gex_DT_t type, gex_OP_t operations) noexcept;

/// Has the network perform the operation, whose target has a key; adds one to `done` when it is
/// complete, its result written. Non-zero if `immediate` and there was no room; nothing was begun
/// then.
int ask_network(const AtomicRequest& operation, CompletionTarget done, bool immediate) noexcept;

}  // namespace gex::atomic
