/// @file
/// Reductions over the members up to each. Needs C++20.
#ifndef UPCXX_EXTRAS_SCAN_HPP_
#define UPCXX_EXTRAS_SCAN_HPP_

#include <upcxx/extras/slots.hpp>

namespace upcxx::extras {

/// The values of the members up to the caller, combined in their order: `function` is to be
/// associative, and need not commute. Collective over the team, which must exist until the future
/// is ready. Before round k a member has what the 2^k members up to it give.
template <class T, class Function>
task<T> scan(T value, Function function, const team& of = world()) {
  const slots<T> arrived(32, of);
  intrank_t round = 0;
  for (long distance = 1; distance < of.rank_n(); distance *= 2, ++round) {
    const long me = of.rank_me();
    if (me + distance < of.rank_n()) arrived.send(intrank_t(me + distance), round, value);
    if (me >= distance) value = function(co_await arrived[round], value);
  }
  co_return value;
}

}  // namespace upcxx::extras

#endif
