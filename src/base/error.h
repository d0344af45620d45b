#pragma once
// Error messages, warnings, and the end of the job by an error.
//
// Every message is one line on standard error, written with one write(2) so that lines of many
// ranks do not mix: "gex: rank 3: TEXT". Before the rank is known the "rank N: " part is absent.
//
// `fatal` ends the whole job, not just this process: base has no notion of a job, so the room job
// registers an AbortHook that ends it. Without one, `fatal` flushes nothing and calls _exit(1).
//
// Most errors occur in every rank (a malformed variable, a collective call's argument) and should
// be reported once: job registers a FirstErrorHook that is true in the first rank to fail; the line
// of the others is dropped.
//
// A line is at most 2 KiB, the newline included; a longer one is cut and ends in "...". Line breaks
// and other control characters, which come in with a user's value, show as '?': one message stays
// one line. Only a client's own text (`client_fatal`) keeps them.
//
// Thread rules: all functions may be called from any thread and from AM handlers. `fatal` and
// `fatal_system` may be called from a signal handler as long as the format uses only %s %c %d %u %x
// %ld %lu %zu %p: the line is formatted by vsnprintf into a buffer on the stack, which for these
// conversions neither allocates nor locks in the C libraries we build on.
//
// No environment variable is read here: error_environment.h registers a MessagePolicy that follows
// GASNET_QUIET, GEX_VERBOSE, GASNET_BACKTRACE and GASNET_FREEZE_ON_ERROR.

#include <csignal>
#include <cstdarg>
#include <cstdint>

namespace gex {

/// Ends the job with `code`; must not return. Called by `fatal` after its line is written.
using AbortHook = void (*)(int code) noexcept;

/// Registers what `fatal` calls; job does this once.
void set_abort_hook(AbortHook hook) noexcept;

/// Returns true if no process of the job has reported an error before; only the first call in the
/// job returns true. Called by `fatal` before it writes, so async-signal-safe.
using FirstErrorHook = bool (*)() noexcept;

/// Registers what decides whether an error is reported; job does this once. Without it all are.
void set_first_error_hook(FirstErrorHook hook) noexcept;

/// The user chooses these. The functions are called at any time, from any thread.
struct MessagePolicy {
  bool (*is_quiet)() noexcept;    ///< true if `warn` writes nothing
  bool (*is_verbose)() noexcept;  ///< true if `inform` writes
  /// Called by `fatal` between its line and the end of the job: help for debugging. Must be
  /// async-signal-safe unless the user has asked for something that is not.
  void (*on_fatal)() noexcept;
};

/// Registers it; `policy` stays for the life of the process. Without one, warnings are written,
/// `inform` writes nothing, and `fatal` does no more than its line and the end.
void set_message_policy(const MessagePolicy& policy) noexcept;

/// The rank named in every later message; job calls this once the rank is known.
void set_message_rank(std::uint32_t rank) noexcept;

/// Returns true if a message that concerns the whole job should come from this process: it is rank
/// 0, or has no rank yet.
bool speaks_for_job() noexcept;

/// Writes one line that names the cause, if it is the job's first error, and ends the job with exit
/// status 1.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...) noexcept;

/// A shell reports abort() by this status.
inline constexpr int abort_status = 128 + SIGABRT;

/// For an error that the client reports: `place`, which may be empty, and the client's text are
/// always written, with all of the text's lines, each behind the rank; the job ends with
/// `abort_status`.
[[noreturn, gnu::cold, gnu::format(printf, 2, 0)]] void client_fatal(const char* place,
                                                                     const char* format,
                                                                     va_list arguments) noexcept;

/// Writes one line and goes on. A quiet policy silences it.
[[gnu::cold, gnu::format(printf, 1, 2)]] void warn(const char* format, ...) noexcept;

/// Writes one line and goes on, whatever the policy: for what the user asked to see.
[[gnu::cold, gnu::format(printf, 1, 2)]] void note(const char* format, ...) noexcept;

/// Writes one line and goes on, if the policy is verbose: for what the library chose, and why.
[[gnu::cold, gnu::format(printf, 1, 2)]] void inform(const char* format, ...) noexcept;

/// "message: strerror(error)" convenience for system calls that failed: names call and cause.
[[noreturn, gnu::cold]] void fatal_system(const char* what, int error) noexcept;

}  // namespace gex
