#pragma once
// The progress thread: with GEX_PROGRESS_THREAD=1 a rank of mode PAR has one thread of the
// library's that serves the library's own messages while the threads of the client compute.
//
// It delivers what the threads of the client leave where it has arrived: nothing that one of them
// is about to take, so that it disturbs no thread that polls. It never calls a function of the
// client's; messages whose handlers are the client's wait for a poll of the client's (am/serve.h).
//
// It looks again at once after it has delivered something, for some microseconds; then it sleeps,
// until a neighbor that has sent something for it rings its bell (shm/doorbell.h). Where messages
// come that ring no bell, over a network above all, it naps instead, for a millisecond at most; so
// it does after the client's threads have polled, and no ring wakes it then.
//
// It has no share in the end of a job: a rank that computes when another one ends the job is ended
// as it would be without the thread. Exit handlers stop it before the process leaves its network.

#include <gasnetex.h>

namespace gex {

/// Returns true if this rank has, or will have, a progress thread.
bool has_progress_thread() noexcept;

/// Starts it, unless it has been started or given to a client. By the first gex_Client_Init of a
/// client that does not start it itself. Ends the job in one line if the system refuses a thread.
void start_progress_thread() noexcept;

/// Gives it to a client that starts it itself (GEX_FLAG_DEFER_THREADS): what that is to run; null:
/// there is none, or it has been started or given to another.
const gex_ProgressThreadInfo_t* give_progress_thread() noexcept;

}  // namespace gex
