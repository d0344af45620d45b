/// @file
/// One value of the root's for each member of a team. Needs C++20.
#ifndef UPCXX_EXTRAS_SCATTER_HPP_
#define UPCXX_EXTRAS_SCATTER_HPP_

#include <upcxx/extras/slots.hpp>

namespace upcxx::extras {

/// The root's value for the caller. The root gives one for each member, in their order; what others
/// give is not read. Collective over the team, which must exist until the future is ready.
template <class T>
task<T> scatter(std::vector<T> values, intrank_t root, const team& of = world()) {
  const slots<T> arrived(1, of);
  if (of.rank_me() == root) {
    UPCXX_ASSERT_ALWAYS(values.size() == std::size_t(of.rank_n()),
                        "extras::scatter: the root gives " << values.size() << " values for "
                                                           << of.rank_n() << " members");
    for (intrank_t member = 0; member < of.rank_n(); ++member) {
      arrived.send(member, 0, values[std::size_t(member)]);
    }
  }
  co_return co_await arrived[0];
}

}  // namespace upcxx::extras

#endif
