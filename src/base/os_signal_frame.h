#pragma once

namespace gex::os {

/// Returns true if the calling thread is inside a signal handler, and so whatever it has
/// interrupted half done. Found by the frames of its stack: a handler that was compiled without
/// unwind tables goes unnoticed. A thread that blocks some signals like SIGSEGV and not all of them
/// counts as one inside their handlers. Async-signal-safe.
bool inside_signal_handler() noexcept;

}  // namespace gex::os
