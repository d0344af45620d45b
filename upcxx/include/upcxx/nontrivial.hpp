/// @file
/// Broadcast and reductions of values that are serialized. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_NONTRIVIAL_HPP_
#define UPCXX_NONTRIVIAL_HPP_

#include <map>

#include <upcxx/collective.hpp>
#include <upcxx/rpc.hpp>

namespace upcxx {
namespace detail {

/// Values that members of a team send each other in a collective call, by the name of the call and
/// the sender. Of the thread with the master persona.
template <class T>
class Mailbox {
 public:
  static future<T> receive(std::uint64_t call, intrank_t from) {
    return touch(Key(call, from)).get_future();
  }
  static void send(const team& of, intrank_t to, std::uint64_t call, const T& value) {
    rpc_ff(
        of[to],
        [](std::uint64_t of_call, intrank_t from, T&& arrived) {
          touch(Key(of_call, from)).fulfill_result(std::move(arrived));
        },
        call, of.rank_me(), value);
  }

 private:
  using Key = std::pair<std::uint64_t, intrank_t>;

  static promise<T> touch(const Key& key) {
    static auto* const waiting = new std::map<Key, promise<T>>;
    const auto [place, is_first] = waiting->try_emplace(key);
    promise<T> found = place->second;
    // Receiver and sender come once each.
    if (!is_first) waiting->erase(place);
    return found;
  }
};

/// A binomial tree over the members, with the root as its lowest.
struct Tree {
  Tree(const team& over, intrank_t root)
      : of(&over),
        members(over.rank_n()),
        place((over.rank_me() - root + members) % members),
        shift(root) {}

  intrank_t member(intrank_t at) const { return (at + shift) % members; }
  bool is_root() const { return place == 0; }
  intrank_t parent() const { return member(place & (place - 1)); }
  template <class Visit>
  void for_each_child(Visit&& visit) const {
    for (intrank_t bit = 1; bit < members && (place & bit) == 0; bit <<= 1) {
      if (place + bit < members) visit(member(place + bit));
    }
  }

  const team* of;
  intrank_t members;
  intrank_t place;
  intrank_t shift;
};

// Values stay where they are: what is done with them leaves their futures as they are.

/// The root's value, when this member has it and has sent it to its children.
template <class T>
future<T> send_down(const Tree& tree, std::uint64_t call, const future<T>& own) {
  const future<T> value = tree.is_root() ? own : Mailbox<T>::receive(call, tree.parent());
  return when_all(value, value.then([tree, call](const T& sent) {
    tree.for_each_child([&](intrank_t child) { Mailbox<T>::send(*tree.of, child, call, sent); });
  }));
}
template <class T, class Function>
future<T> combine_up(const Tree& tree, std::uint64_t call, T&& value, const Function& function) {
  future<T> sum = make_future(std::forward<T>(value));
  tree.for_each_child([&](intrank_t child) {
    const future<T> more = Mailbox<T>::receive(call, child);
    const auto is_there = [](const T&) {};
    sum = when_all(sum.then(is_there), more.then(is_there)).then([sum, more, function] {
      return T(function(sum.result_reference(), more.result_reference()));
    });
  });
  if (tree.is_root()) return sum;
  return when_all(sum, sum.then([tree, call](const T& own) {
    Mailbox<T>::send(*tree.of, tree.parent(), call, own);
  }));
}

}  // namespace detail

namespace experimental {

// Any type that has the operators.
inline constexpr detail::op_wrap<detail::Add, false> op_add{};
inline constexpr detail::op_wrap<detail::Multiply, false> op_mul{};
inline constexpr detail::op_wrap<detail::Min, false> op_min{};
inline constexpr detail::op_wrap<detail::Max, false> op_max{};
inline constexpr detail::op_wrap<detail::And, false> op_bit_and{};
inline constexpr detail::op_wrap<detail::Or, false> op_bit_or{};
inline constexpr detail::op_wrap<detail::Xor, false> op_bit_xor{};

/// The root's value, on all members.
template <class T, class Cx = upcxx::detail::DefaultCompletions>
auto broadcast_nontrivial(T&& value, intrank_t root, const team& of = world(), const Cx& how = {}) {
  upcxx::detail::require_order("upcxx::broadcast_nontrivial");
  using Value = std::decay_t<T>;
  return upcxx::detail::completed_with(
      upcxx::detail::send_down<Value>(upcxx::detail::Tree(of, root), of.next_object_id(),
                                      make_future(std::forward<T>(value))),
      -1, how);
}
/// The values of all members, combined by `function`, on the root; other members have a part.
template <class T, class Function, class Cx = upcxx::detail::DefaultCompletions>
auto reduce_one_nontrivial(T&& value, Function function, intrank_t root, const team& of = world(),
                           const Cx& how = {}) {
  upcxx::detail::require_order("upcxx::reduce_one_nontrivial");
  return upcxx::detail::completed_with(
      upcxx::detail::combine_up<std::decay_t<T>>(upcxx::detail::Tree(of, root), of.next_object_id(),
                                                 std::decay_t<T>(std::forward<T>(value)), function),
      -1, how);
}
template <class T, class Function, class Cx = upcxx::detail::DefaultCompletions>
auto reduce_all_nontrivial(T&& value, Function function, const team& of = world(),
                           const Cx& how = {}) {
  upcxx::detail::require_order("upcxx::reduce_all_nontrivial");
  const upcxx::detail::Tree tree(of, 0);
  const std::uint64_t up = of.next_object_id();
  const std::uint64_t down = of.next_object_id();
  using Value = std::decay_t<T>;
  return upcxx::detail::completed_with(
      upcxx::detail::send_down(
          tree, down,
          upcxx::detail::combine_up<Value>(tree, up, Value(std::forward<T>(value)), function)),
      -1, how);
}

}  // namespace experimental

// Where programs of earlier versions look for them.
using experimental::broadcast_nontrivial;
using experimental::op_add;
using experimental::op_bit_and;
using experimental::op_bit_or;
using experimental::op_bit_xor;
using experimental::op_max;
using experimental::op_min;
using experimental::op_mul;
using experimental::reduce_all_nontrivial;
using experimental::reduce_one_nontrivial;

}  // namespace upcxx

#endif
