/// @file
/// A wait with a time limit. Needs C++20.
#ifndef UPCXX_EXTRAS_WAIT_FOR_HPP_
#define UPCXX_EXTRAS_WAIT_FOR_HPP_

#include <chrono>

#include <upcxx/upcxx.hpp>

namespace upcxx::extras {

/// Makes user progress until the future is ready or `limit` has passed, and once at least.
///
/// @return whether the future is ready. If not, its operation goes on: a later wait may find it
///     ready, and what it reads or writes must live until then.
/// @par Context
/// As future::wait: not in callbacks, nor in a coroutine that runs in one.
template <class... T, class Rep, class Period>
bool wait_for(const future<T...>& awaited, std::chrono::duration<Rep, Period> limit) {
  if (!awaited.is_ready()) detail::require_unrestricted("upcxx::extras::wait_for");
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  do progress();
  while (!awaited.is_ready() && Clock::now() - start < limit);
  return awaited.is_ready();
}

}  // namespace upcxx::extras

#endif
