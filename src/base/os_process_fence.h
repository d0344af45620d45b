#pragma once
// Memory fences in other threads (membarrier), so that one side of a synchronisation that is seldom
// used pays for both: in all threads of the process, or in those of other processes as well.

namespace gex::os {

/// Asks the system for such fences; once, before other threads need them. Whether there are any.
bool enable_process_fence() noexcept;

/// Returns the last result of `enable_process_fence`.
bool has_process_fence() noexcept;

/// Every other thread of the process has gone through a full fence between the begin and the end of
/// this call. Ends the process if the system does not do it although it is registered for that. A
/// few microseconds.
void process_fence() noexcept;

/// Lets `shared_fence` of any process include the threads of this one; once. Whether it does.
bool enable_shared_fence() noexcept;

/// Returns the last result of `enable_shared_fence`.
bool has_shared_fence() noexcept;

/// As `process_fence`, in the threads of all processes that have enabled it. Only where this
/// process has.
void shared_fence() noexcept;

}  // namespace gex::os
