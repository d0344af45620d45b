/// @file
/// Assertions and the end of a job in one line. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_DIAGNOSTIC_HPP_
#define UPCXX_DIAGNOSTIC_HPP_

#include <sstream>
#include <upcxx/version.hpp>

namespace upcxx {

/// Prints the message with the rank and ends the job.
[[noreturn]] UPCXXI_EXPORT void fatal_error(const char* message, const char* function = nullptr,
                                            const char* file = nullptr, int line = 0);

namespace detail {

[[noreturn]] UPCXXI_EXPORT void assertion_failed(const char* file, int line, const char* message);

/// In a handler of exceptions: ends the job by the one that is handled.
[[noreturn]] UPCXXI_EXPORT void end_by_exception(const char* what);

/// For a call that waits, and for one that is collective without waiting: ends the job if the
/// caller is in a callback.
UPCXXI_EXPORT void require_unrestricted(const char* call);
UPCXXI_EXPORT void require_order(const char* call);

}  // namespace detail
}  // namespace upcxx

/// UPCXX_ASSERT_ALWAYS(test [, message]): a failure prints the message, anything that can be
/// inserted in an ostream, and aborts. UPCXX_ASSERT does so in debug mode; in opt mode it evaluates
/// nothing.
#define UPCXX_ASSERT_ALWAYS(...) \
  UPCXXI_ASSERT_PICK_(__VA_ARGS__, UPCXXI_ASSERT_TEXT_, UPCXXI_ASSERT_TEST_, )(__VA_ARGS__)
#define UPCXXI_ASSERT_PICK_(test, message, form, ...) form
#define UPCXXI_ASSERT_TEST_(test) UPCXXI_ASSERT_TEXT_(test, "failed assertion: " #test)
#define UPCXXI_ASSERT_TEXT_(test, message)                                                  \
  ((test) ? (void)0 : [&](const char* upcxxi_file, int upcxxi_line) {                       \
    ::std::ostringstream upcxxi_text;                                                       \
    /* `a << b` is one, too. NOLINTNEXTLINE(bugprone-macro-parentheses) */                  \
    upcxxi_text << message;                                                                 \
    ::upcxx::detail::assertion_failed(upcxxi_file, upcxxi_line, upcxxi_text.str().c_str()); \
  }(__FILE__, __LINE__))
#ifdef UPCXX_CODEMODE
#define UPCXX_ASSERT(...) ((void)0)
#else
#define UPCXX_ASSERT(...) UPCXX_ASSERT_ALWAYS(__VA_ARGS__)
#endif

// For the headers themselves: a string literal, and no stream to compile.
#ifdef UPCXX_CODEMODE
#define UPCXXI_CHECK(test, message) ((void)0)
#else
#define UPCXXI_CHECK(test, message) \
  ((test) ? (void)0 : ::upcxx::detail::assertion_failed(__FILE__, __LINE__, message))
#endif

#endif
