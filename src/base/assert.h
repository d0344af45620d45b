#pragma once
// Assertions about libgex itself: what must hold of counts, credits, windows, states and lifetimes,
// whatever a client does and whatever arrives from a peer.
//
// GEX_ASSERT(condition) ends the process with SIGABRT, after one line that names the place, if the
// condition is false. The build defines GEX_ASSERTIONS for the checking library, in the preset
// debug and under sanitizers; elsewhere the condition is compiled but not evaluated, so that it
// costs nothing. What a client or a peer can make false is no assertion: it is checked in every
// build, and answered by an error.
//
// A macro, as the condition's text is the message. It needs nothing that is linked, so that
// plug-ins use it as well.
//
// Thread rules: any thread, AM handlers, signal handlers.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace gex {

/// Writes the line and ends the process.
[[noreturn, gnu::cold, gnu::noinline]] inline void assertion_failed(const char* condition,
                                                                    const char* file,
                                                                    int line) noexcept {
  char text[512];
  const int length = std::snprintf(
      text, sizeof text, "gex: internal error at %s:%d: '%s' does not hold; please report it\n",
      file, line, condition);
  if (length > 0) {
    const auto bytes = static_cast<std::size_t>(length);
    // Nothing can be done about a line that cannot be written.
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, text, bytes < sizeof text ? bytes : sizeof text - 1);
  }
  std::abort();
}

}  // namespace gex

#ifdef GEX_ASSERTIONS
#define GEX_ASSERT(condition)         \
  ((condition) ? static_cast<void>(0) \
               : ::gex::assertion_failed(#condition, __FILE_NAME__, __LINE__))
#else
#define GEX_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
