#include <upcxx/diagnostic.hpp>

#include <cstdio>
#include <cstdlib>

#include "process.h"

namespace upcxx {
namespace {

[[noreturn]] void end(const char* file, int line, const char* function, const char* message) {
  char place[512] = "";
  if (file != nullptr) std::snprintf(place, sizeof place, " (%s:%d)", file, line);
  std::fflush(stdout);
  // One call: lines of several ranks do not mix.
  if (initialized()) {
    std::fprintf(stderr, "upcxx: rank %d: %s%s%s%s\n", detail::job.rank_me,
                 function ? function : "", function ? ": " : "", message, place);
  } else {
    std::fprintf(stderr, "upcxx: %s%s%s%s\n", function ? function : "", function ? ": " : "",
                 message, place);
  }
  std::abort();
}

}  // namespace

void fatal_error(const char* message, const char* function, const char* file, int line) {
  end(file, line, function, message);
}

long release_version() {
  return UPCXX_VERSION;
}
long spec_version() {
  return UPCXX_SPEC_VERSION;
}

namespace detail {

void assertion_failed(const char* file, int line, const char* message) {
  end(file, line, nullptr, message);
}

namespace {

void refuse_in_callback(const char* call, const char* why) {
  if (this_thread.callbacks == 0) return;
  char message[320];
  std::snprintf(message, sizeof message,
                "%s was called in a callback of user progress (restricted context), %s", call, why);
  end(nullptr, 0, nullptr, message);
}

}  // namespace

void require_unrestricted(const char* call) {
  refuse_in_callback(call,
                     "where it would wait for ever; use then(), co_await, or return the future "
                     "from the callback");
}

void require_order(const char* call) {
  if (this_thread.callbacks > 0 && process().goes_on_in_callbacks) {
    std::fprintf(stderr,
                 "upcxx: rank %d: %s: warning: called in a callback of user progress (restricted "
                 "context); all ranks of the team are to make their collective calls in one order, "
                 "or the job hangs or computes wrong values\n",
                 job.rank_me, call);
    return;
  }
  refuse_in_callback(call,
                     "whose order differs from rank to rank; collective calls are made outside "
                     "callbacks, in one order");
}

}  // namespace detail
}  // namespace upcxx
