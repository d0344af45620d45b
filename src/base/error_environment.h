#pragma once
// The environment variables that change messages and errors: GASNET_QUIET, GEX_VERBOSE,
// GASNET_BACKTRACE and GASNET_FREEZE_ON_ERROR.

namespace gex {

/// Registers a MessagePolicy that follows these variables. The library calls it when it is loaded,
/// programs linked with rooms at the beginning of main. Nothing is read yet: GASNET_QUIET and
/// GEX_VERBOSE are read once, at the first message that depends on them, and the other two at each
/// fatal error.
void follow_error_environment() noexcept;

/// Where GASNET_BACKTRACE or GASNET_FREEZE_ON_ERROR is set, a signal that ends the process is from
/// now on reported as a fatal error is.
void follow_error_environment_in_signals() noexcept;

/// Puts another function in the place of a backtrace at errors: it looks at GASNET_BACKTRACE
/// itself. The interface to clients does this at load, because a program may bring its own
/// backtraces.
void set_error_backtrace(int (*print)(int descriptor)) noexcept;

}  // namespace gex
