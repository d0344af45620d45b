#pragma once
// Exploring interleavings with relacy (Debian relacy-dev): what the tests of lock-free code share.
//
// relacy models the C++ memory order, so it also finds what the processor at hand would forgive. It
// replaces the allocation functions and switches stacks by itself, which sanitizers take for
// errors: the presets without one explore.

// Before relacy, whose macros take the names of the standard's memory orders.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

// relacy's headers are older than our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <relacy/relacy.hpp>
#pragma GCC diagnostic pop
// Nothing allocates while it is explored, and TEST needs the language's own word.
#undef delete
#undef new

namespace gex::interleavings {

/// Explores interleavings of a rl::test_suite; what went wrong in relacy's words, or "" when
/// nothing did.
template <class Suite>
std::string explore(unsigned iterations = 40000) {
  // Discards: relacy replaces the allocation functions while it runs, so no stream may grow.
  std::ostream output(nullptr);
  rl::test_params params;
  params.iteration_count = iterations;
  params.output_stream = &output;
  params.progress_stream = &output;
  // rl::simulate would compile the suite for its three schedulers, of which this is the default,
  // and is most of what a test compiles.
  rl::ostringstream state;
  using Scheduler = rl::random_scheduler<Suite::params::thread_count>;
  if (rl::run_test<Suite, Scheduler>(params, state, false) == rl::test_result_success) return "";
  return rl::test_result_str(params.test_result);
}

/// Something read too early, too late, torn, twice or never; not a test that merely got stuck.
inline bool is_the_bug(const std::string& result) {
  return result == "DATA RACE" || result == "USER ASSERT FAILED" ||
         result == "ACCESS TO UNINITIALIZED VARIABLE";
}

}  // namespace gex::interleavings
