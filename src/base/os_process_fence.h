#pragma once
// A memory fence in all threads of the process at once (membarrier), so that one side of a
// synchronisation that is seldom used pays for both.

namespace gex::os {

/// Asks the system for such fences; once, before other threads need them. Whether there are any.
bool enable_process_fence() noexcept;

/// What `enable_process_fence` returned last.
bool has_process_fence() noexcept;

/// Every other thread of the process has gone through a full fence between the begin and the end of
/// this call. Ends the process if the system does not do it although it is registered for that. A
/// few microseconds.
void process_fence() noexcept;

}  // namespace gex::os
