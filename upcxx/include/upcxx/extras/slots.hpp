/// @file
/// Values that members of a team send one another under one name: what the collectives of extras
/// are made of. Needs C++20.
#ifndef UPCXX_EXTRAS_SLOTS_HPP_
#define UPCXX_EXTRAS_SLOTS_HPP_

#include <upcxx/upcxx.hpp>

namespace upcxx::extras {

/// Numbered places, each for one value from another member. Constructing one is collective over the
/// team, but does not communicate. It is needed until all values that are sent to this member have
/// arrived.
template <class T>
class slots {
 public:
  slots(intrank_t count, const team& of) : promises_(of, std::size_t(count)) {}

  /// Sends a value to a place of another member.
  void send(intrank_t member, intrank_t place, const T& value) const {
    rpc_ff(
        promises_.team(), member,
        [](const Promises& there, intrank_t at, T arrived) {
          (*there)[std::size_t(at)].fulfill_result(std::move(arrived));
        },
        promises_, place, value);
  }
  /// The value that is sent to a place here.
  future<T> operator[](intrank_t place) const {
    return (*promises_)[std::size_t(place)].get_future();
  }

 private:
  using Promises = dist_object<std::vector<promise<T>>>;
  Promises promises_;
};

}  // namespace upcxx::extras

#endif
