/// @file
/// The values of all members of a team, on one or on all. Needs C++20.
///
/// Collective over the team, which must exist until the future is ready. Values are of any type
/// that can be sent.
#ifndef UPCXX_EXTRAS_GATHER_HPP_
#define UPCXX_EXTRAS_GATHER_HPP_

#include <algorithm>

#include <upcxx/extras/slots.hpp>

namespace upcxx::extras {

/// On the root the values in the order of members, on others nothing.
template <class T>
task<std::vector<T>> gather(T value, intrank_t root, const team& of = world()) {
  const intrank_t count = of.rank_me() == root ? of.rank_n() : 0;
  const slots<T> arrived(count, of);
  arrived.send(root, of.rank_me(), value);
  std::vector<T> all;
  for (intrank_t member = 0; member < count; ++member) all.push_back(co_await arrived[member]);
  co_return all;
}

/// On every member the values in the order of members. Each passes on what it has to a member twice
/// as far away as the one before: a logarithm of rounds.
template <class T>
task<std::vector<T>> gather_all(T value, const team& of = world()) {
  const intrank_t n = of.rank_n();
  const slots<std::vector<T>> arrived(32, of);
  std::vector<T> all{std::move(value)};  // of this member and those after it
  intrank_t round = 0;
  for (intrank_t distance = 1; distance < n; distance *= 2, ++round) {
    const auto count = std::min(all.size(), std::size_t(n) - all.size());
    arrived.send((of.rank_me() + n - distance) % n, round,
                 {all.begin(), all.begin() + long(count)});
    const std::vector<T> more = co_await arrived[round];
    all.insert(all.end(), more.begin(), more.end());
  }
  std::rotate(all.begin(), all.end() - of.rank_me(), all.end());
  co_return all;
}

}  // namespace upcxx::extras

#endif
