/// @file
/// A value from each member of a team to each. Needs C++20.
#ifndef UPCXX_EXTRAS_ALLTOALL_HPP_
#define UPCXX_EXTRAS_ALLTOALL_HPP_

#include <upcxx/extras/slots.hpp>

namespace upcxx::extras {

/// Sends each member its value, and gives what the members have sent, in their order. Vectors as
/// values may have any lengths. Collective over the team, which must exist until the future is
/// ready.
template <class T>
task<std::vector<T>> alltoall(std::vector<T> values, const team& of = world()) {
  const intrank_t n = of.rank_n();
  UPCXX_ASSERT_ALWAYS(values.size() == std::size_t(n),
                      "extras::alltoall: " << values.size() << " values for " << n << " members");
  const slots<T> arrived(n, of);
  for (intrank_t distance = 0; distance < n; ++distance) {
    // Each begins with another target.
    const intrank_t member = (of.rank_me() + distance) % n;
    arrived.send(member, of.rank_me(), values[std::size_t(member)]);
  }
  for (intrank_t member = 0; member < n; ++member) {
    values[std::size_t(member)] = co_await arrived[member];
  }
  co_return values;
}

}  // namespace upcxx::extras

#endif
