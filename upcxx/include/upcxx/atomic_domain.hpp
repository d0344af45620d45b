/// @file
/// Atomic operations on objects of other ranks. Part of upcxx/upcxx.hpp.
///
/// Operations of one domain are atomic among themselves, and not with other domains, puts, gets or
/// the processor's atomics.
#ifndef UPCXX_ATOMIC_DOMAIN_HPP_
#define UPCXX_ATOMIC_DOMAIN_HPP_

#include <atomic>
#include <cstring>
#include <vector>

#include <upcxx/global_ptr.hpp>
#include <upcxx/team.hpp>
#include <upcxx/transfer.hpp>

namespace upcxx {

enum class atomic_op : int {
  load,
  store,
  compare_exchange,
  add,
  fetch_add,
  sub,
  fetch_sub,
  mul,
  fetch_mul,
  min,
  fetch_min,
  max,
  fetch_max,
  bit_and,
  fetch_bit_and,
  bit_or,
  fetch_bit_or,
  bit_xor,
  fetch_bit_xor,
  inc,
  fetch_inc,
  dec,
  fetch_dec
};

namespace detail {

enum class AtomicType { int32, uint32, int64, uint64, float32, float64 };

template <class T>
constexpr AtomicType atomic_type_of() {
  static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8) &&
                    (std::is_integral<T>::value || std::is_same<T, float>::value ||
                     std::is_same<T, double>::value),
                "an atomic_domain is of float, double, or integers of 32 or 64 bits");
  if (std::is_floating_point<T>::value) {
    return sizeof(T) == 4 ? AtomicType::float32 : AtomicType::float64;
  }
  if (std::is_signed<T>::value) return sizeof(T) == 4 ? AtomicType::int32 : AtomicType::int64;
  return sizeof(T) == 4 ? AtomicType::uint32 : AtomicType::uint64;
}

struct AtomicCall {
  void* domain;
  AtomicType type;
  atomic_op op;
  PointerParts target;
  std::memory_order order;
  // The operands' bytes, in front.
  std::uint64_t operands[2];
};

/// Collective over the team.
UPCXXI_EXPORT void* make_domain(AtomicType type, const std::vector<atomic_op>& ops, const team& of);
UPCXXI_EXPORT void end_domain(void* domain, const team& of, entry_barrier how);
/// For debug mode: ends the job if the domain does not have the operation, or the target, or the
/// operation not the order.
UPCXXI_EXPORT void check_atomic(const AtomicCall& call);
/// Null as `operation`: the ranks share memory, and the operation is over when the call returns.
UPCXXI_EXPORT void start_atomic(Operation* operation, const AtomicCall& call, void* result);

template <class T>
std::uint64_t bytes_of(T value) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, &value, sizeof value);
  return bytes;
}

/// An operation that gives a value.
template <class T, class... Action>
auto atomic_value(const AtomicCall& call, const completions<Action...>& how) {
  require_operation_only<Action...>();
#ifndef UPCXX_CODEMODE
  check_atomic(call);
#endif
  if (address_here(call.target) != nullptr) {
    T value;
    start_atomic(nullptr, call, &value);
    return completed_now(-1, how, std::as_const(value));
  }
  auto* const operation = new Transfer<std::tuple<Action...>, T>(how.actions);
  return start(operation, [&] { start_atomic(operation, call, operation->value()); });
}
/// An operation that gives none, or writes it to memory.
template <class... Action>
auto atomic_void(const AtomicCall& call, void* result, const completions<Action...>& how) {
  require_operation_only<Action...>();
#ifndef UPCXX_CODEMODE
  check_atomic(call);
#endif
  if (address_here(call.target) != nullptr) {
    start_atomic(nullptr, call, result);
    return completed_now(-1, how);
  }
  auto* const operation = new Transfer<std::tuple<Action...>, void>(how.actions);
  return start(operation, [&] { start_atomic(operation, call, result); });
}

}  // namespace detail

/// Operations on objects of type T. The set of operations is the same on all members of the team.
template <class T>
class atomic_domain {
  using DefaultCx = detail::DefaultCompletions;
  static constexpr detail::AtomicType type = detail::atomic_type_of<T>();

 public:
  using value_type = T;

  /// No domain.
  atomic_domain() = default;
  /// Collective over the team.
  explicit atomic_domain(const std::vector<atomic_op>& ops, const team& of = world())
      : domain_(detail::make_domain(type, ops, of)), team_(&of) {}
  atomic_domain(atomic_domain&& other) noexcept
      : domain_(std::exchange(other.domain_, nullptr)), team_(other.team_) {}
  atomic_domain& operator=(atomic_domain&& other) noexcept {
    if (this == &other) return *this;
    require_inactive("atomic_domain::operator=: the domain is active; destroy() ends it");
    domain_ = std::exchange(other.domain_, nullptr);
    team_ = other.team_;
    return *this;
  }
  atomic_domain(const atomic_domain&) = delete;
  atomic_domain& operator=(const atomic_domain&) = delete;
  ~atomic_domain() { require_inactive("~atomic_domain: destroy() was not called for the domain"); }

  bool is_active() const { return domain_ != nullptr; }
  /// Ends the domain. Collective over its team.
  void destroy(entry_barrier how = entry_barrier::user) {
    detail::end_domain(domain_, *team_, how);
    domain_ = nullptr;
  }

  // Forms with `result` write the old value there.

  template <class Cx = DefaultCx>
  auto load(global_ptr<const T> target, std::memory_order order, const Cx& how = {}) const {
    return value(atomic_op::load, target, order, T(), T(), how);
  }
  template <class Cx = DefaultCx>
  auto load(global_ptr<const T> target, T* result, std::memory_order order,
            const Cx& how = {}) const {
    return into(atomic_op::load, target, order, T(), T(), result, how);
  }
  template <class Cx = DefaultCx>
  auto load_into(global_ptr<const T> target, T* result, std::memory_order order,
                 const Cx& how = {}) const {
    return load(target, result, order, how);
  }
  template <class Cx = DefaultCx>
  auto store(global_ptr<T> target, T operand, std::memory_order order, const Cx& how = {}) const {
    return into(atomic_op::store, target, order, operand, T(), nullptr, how);
  }
  /// Gives the old value, which equals `expected` if the new one was written.
  template <class Cx = DefaultCx>
  auto compare_exchange(global_ptr<T> target, T expected, T desired, std::memory_order order,
                        const Cx& how = {}) const {
    return value(atomic_op::compare_exchange, target, order, expected, desired, how);
  }
  template <class Cx = DefaultCx>
  auto compare_exchange(global_ptr<T> target, T expected, T desired, T* result,
                        std::memory_order order, const Cx& how = {}) const {
    return into(atomic_op::compare_exchange, target, order, expected, desired, result, how);
  }
  template <class Cx = DefaultCx>
  auto compare_exchange_into(global_ptr<T> target, T expected, T desired, T* result,
                             std::memory_order order, const Cx& how = {}) const {
    return compare_exchange(target, expected, desired, result, order, how);
  }

#define UPCXXI_BINARY(name)                                                                       \
  template <class Cx = DefaultCx>                                                                 \
  auto name(global_ptr<T> target, T operand, std::memory_order order, const Cx& how = {}) const { \
    return into(atomic_op::name, target, order, operand, T(), nullptr, how);                      \
  }                                                                                               \
  template <class Cx = DefaultCx>                                                                 \
  auto fetch_##name(global_ptr<T> target, T operand, std::memory_order order, const Cx& how = {}) \
      const {                                                                                     \
    return value(atomic_op::fetch_##name, target, order, operand, T(), how);                      \
  }                                                                                               \
  template <class Cx = DefaultCx>                                                                 \
  auto fetch_##name(global_ptr<T> target, T operand, T* result, std::memory_order order,          \
                    const Cx& how = {}) const {                                                   \
    return into(atomic_op::fetch_##name, target, order, operand, T(), result, how);               \
  }                                                                                               \
  template <class Cx = DefaultCx>                                                                 \
  auto fetch_##name##_into(global_ptr<T> target, T operand, T* result, std::memory_order order,   \
                           const Cx& how = {}) const {                                            \
    return fetch_##name(target, operand, result, order, how);                                     \
  }
  UPCXXI_BINARY(add)
  UPCXXI_BINARY(sub)
  UPCXXI_BINARY(mul)
  UPCXXI_BINARY(min)
  UPCXXI_BINARY(max)
  UPCXXI_BINARY(bit_and)
  UPCXXI_BINARY(bit_or)
  UPCXXI_BINARY(bit_xor)
#undef UPCXXI_BINARY

#define UPCXXI_UNARY(name)                                                                        \
  template <class Cx = DefaultCx>                                                                 \
  auto name(global_ptr<T> target, std::memory_order order, const Cx& how = {}) const {            \
    return into(atomic_op::name, target, order, T(), T(), nullptr, how);                          \
  }                                                                                               \
  template <class Cx = DefaultCx>                                                                 \
  auto fetch_##name(global_ptr<T> target, std::memory_order order, const Cx& how = {}) const {    \
    return value(atomic_op::fetch_##name, target, order, T(), T(), how);                          \
  }                                                                                               \
  template <class Cx = DefaultCx>                                                                 \
  auto fetch_##name(global_ptr<T> target, T* result, std::memory_order order, const Cx& how = {}) \
      const {                                                                                     \
    return into(atomic_op::fetch_##name, target, order, T(), T(), result, how);                   \
  }                                                                                               \
  template <class Cx = DefaultCx>                                                                 \
  auto fetch_##name##_into(global_ptr<T> target, T* result, std::memory_order order,              \
                           const Cx& how = {}) const {                                            \
    return fetch_##name(target, result, order, how);                                              \
  }
  UPCXXI_UNARY(inc)
  UPCXXI_UNARY(dec)
#undef UPCXXI_UNARY

 private:
  void require_inactive(const char* message) const {
    if (is_active() && initialized()) fatal_error(message);
  }
  detail::AtomicCall call(atomic_op op, const global_ptr<const T>& target, std::memory_order order,
                          T first, T second) const {
    UPCXXI_CHECK(is_active(), "an operation of an atomic_domain that is not active");
    return {domain_, type,
            op,      detail::PointerAccess::parts(target),
            order,   {detail::bytes_of(first), detail::bytes_of(second)}};
  }
  template <class Cx>
  auto value(atomic_op op, const global_ptr<const T>& target, std::memory_order order, T first,
             T second, const Cx& how) const {
    return detail::atomic_value<T>(call(op, target, order, first, second), how);
  }
  template <class Cx>
  auto into(atomic_op op, const global_ptr<const T>& target, std::memory_order order, T first,
            T second, T* result, const Cx& how) const {
    return detail::atomic_void(call(op, target, order, first, second), result, how);
  }

  void* domain_ = nullptr;
  const team* team_ = nullptr;
};

}  // namespace upcxx

#endif
