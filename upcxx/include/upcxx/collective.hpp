/// @file
/// Barrier, broadcast and reductions over a team. Part of upcxx/upcxx.hpp.
///
/// All members make the same calls in the same order. Values are trivially copyable.
#ifndef UPCXX_COLLECTIVE_HPP_
#define UPCXX_COLLECTIVE_HPP_

#include <cstring>

#include <upcxx/serialization.hpp>
#include <upcxx/team.hpp>
#include <upcxx/transfer.hpp>

namespace upcxx {
namespace detail {

using Combine = void (*)(const void*, void*, std::size_t, const void*);

UPCXXI_EXPORT void start_barrier(Operation* operation, const team& of);
UPCXXI_EXPORT void start_broadcast(Operation* operation, void* data, std::size_t bytes,
                                   intrank_t root, const team& of);
/// `root` below 0: all members get the result.
UPCXXI_EXPORT void start_reduction(Operation* operation, const void* source, void* destination,
                                   std::size_t size, std::size_t count, Combine combine,
                                   const void* operation_data, intrank_t root, const team& of);

/// a[i] = op(b[i], a[i]).
template <class T, class Function>
void combine(const void* first, void* second, std::size_t count, const void* function) {
  const auto* const a = static_cast<const T*>(first);
  auto* const b = static_cast<T*>(second);
  for (std::size_t i = 0; i < count; ++i) {
    b[i] = (*static_cast<const Function*>(function))(a[i], b[i]);
  }
}

template <class T, class Function, class... Action>
auto reduce_value(T value, const Function& function, intrank_t root, const team& of,
                  const completions<Action...>& how) {
  static_assert(is_sent_as_bytes<T>,
                "what is reduced is copied as bytes: its type is to be trivially copyable; the "
                "experimental::..._nontrivial forms take others");
  require_value_size<T>();
  require_operation_only<Action...>();
  auto* const operation = new Transfer<std::tuple<Action...>, T, Function>(how.actions, function);
  std::memcpy(operation->value(), &value, sizeof(T));
  return start(operation, [&] {
    start_reduction(operation, operation->value(), operation->value(), sizeof(T), 1,
                    combine<T, Function>, &operation->kept, root, of);
  });
}
template <class T, class Function, class... Action>
auto reduce_array(const T* source, T* destination, std::size_t count, const Function& function,
                  intrank_t root, const team& of, const completions<Action...>& how) {
  static_assert(is_sent_as_bytes<T>,
                "what is reduced is copied as bytes: its type is to be trivially copyable; the "
                "experimental::..._nontrivial forms take others");
  require_operation_only<Action...>();
  auto* const operation =
      new Transfer<std::tuple<Action...>, void, Function>(how.actions, -1, function);
  return start(operation, [&] {
    start_reduction(operation, source, destination, sizeof(T), count, combine<T, Function>,
                    &operation->kept, root, of);
  });
}

struct Add {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return T(a + b);
  }
};
struct Multiply {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return T(a * b);
  }
};
struct Min {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return T(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return T(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return T(a ^ b);
  }
};

/// The type of an operation that reductions take. Programs that instantiate templates for certain
/// operations spell it as here.
template <class Function, bool IsFast>
struct op_wrap : Function {};
template <bool IsMin>
using opfn_min_not_max = std::conditional_t<IsMin, Min, Max>;
using opfn_add = Add;
using opfn_mul = Multiply;
using opfn_bit_and = And;
using opfn_bit_or = Or;
using opfn_bit_xor = Xor;

}  // namespace detail

inline constexpr detail::op_wrap<detail::Add, true> op_fast_add{};
inline constexpr detail::op_wrap<detail::Multiply, true> op_fast_mul{};
inline constexpr detail::op_wrap<detail::Min, true> op_fast_min{};
inline constexpr detail::op_wrap<detail::Max, true> op_fast_max{};
inline constexpr detail::op_wrap<detail::And, true> op_fast_bit_and{};
inline constexpr detail::op_wrap<detail::Or, true> op_fast_bit_or{};
inline constexpr detail::op_wrap<detail::Xor, true> op_fast_bit_xor{};

/// A barrier that does not wait.
template <class Cx = detail::DefaultCompletions>
auto barrier_async(const team& of = world(), const Cx& how = {}) {
  detail::require_operation_only(how);
  auto* const operation =
      new detail::Transfer<std::decay_t<decltype(how.actions)>, void>(how.actions);
  return detail::start(operation, [&] { detail::start_barrier(operation, of); });
}

/// The root's value, on all members.
template <class T, class Cx = detail::DefaultCompletions>
auto broadcast(T value, intrank_t root, const team& of = world(), const Cx& how = {}) {
  static_assert(detail::is_sent_as_bytes<T>,
                "what is broadcast is copied as bytes: its type is to be trivially copyable; "
                "experimental::broadcast_nontrivial takes others");
  detail::require_value_size<T>();
  detail::require_operation_only(how);
  auto* const operation = new detail::Transfer<std::decay_t<decltype(how.actions)>, T>(how.actions);
  std::memcpy(operation->value(), &value, sizeof(T));
  return detail::start(operation, [&] {
    detail::start_broadcast(operation, operation->value(), sizeof(T), root, of);
  });
}
/// The root's array, in the array of all members.
template <class T, class Cx = detail::DefaultCompletions>
auto broadcast(T* data, std::size_t count, intrank_t root, const team& of = world(),
               const Cx& how = {}) {
  static_assert(detail::is_sent_as_bytes<T>,
                "what is broadcast is copied as bytes: its type is to be trivially copyable; "
                "experimental::broadcast_nontrivial takes others");
  detail::require_operation_only(how);
  auto* const operation =
      new detail::Transfer<std::decay_t<decltype(how.actions)>, void>(how.actions);
  return detail::start(
      operation, [&] { detail::start_broadcast(operation, data, count * sizeof(T), root, of); });
}

/// The values of all members, combined by `function`, on the root or on all. What a reduction to
/// one gives the other members is not specified.
template <class T, class Function, class Cx = detail::DefaultCompletions>
auto reduce_one(T value, Function function, intrank_t root, const team& of = world(),
                const Cx& how = {}) {
  return detail::reduce_value(value, function, root, of, how);
}
template <class T, class Function, class Cx = detail::DefaultCompletions>
auto reduce_all(T value, Function function, const team& of = world(), const Cx& how = {}) {
  return detail::reduce_value(value, function, -1, of, how);
}
/// Element by element for arrays, of which source and destination may be one.
template <class T, class Function, class Cx = detail::DefaultCompletions>
auto reduce_one(const T* source, T* destination, std::size_t count, Function function,
                intrank_t root, const team& of = world(), const Cx& how = {}) {
  return detail::reduce_array(source, destination, count, function, root, of, how);
}
template <class T, class Function, class Cx = detail::DefaultCompletions>
auto reduce_all(const T* source, T* destination, std::size_t count, Function function,
                const team& of = world(), const Cx& how = {}) {
  return detail::reduce_array(source, destination, count, function, -1, of, how);
}

}  // namespace upcxx

#endif
