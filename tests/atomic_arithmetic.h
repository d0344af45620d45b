#pragma once
// The results of atomic operations, in plain arithmetic, and operands to try it with.

#include <gasnet_fwd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

namespace atomic_arithmetic {

/// The unsigned integer of a type's size.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr Bits<T> bits_of(T value) {
  return std::bit_cast<Bits<T>>(value);
}

/// Number of the highest operation, GEX_OP_GET, and one.
inline constexpr unsigned operation_count = 25;

/// The operations of a type, by what the specification lists.
template <class T>
constexpr gex_OP_t operations() {
  gex_OP_t all = GEX_OP_SET | GEX_OP_CAS | GEX_OP_GET | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_ADD |
                 GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC |
                 GEX_OP_FADD | GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FSUB |
                 GEX_OP_FINC | GEX_OP_FDEC;
  if (std::is_integral_v<T>)
    all |= GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR;
  return all;
}

constexpr bool is_fetching(gex_OP_t op) {
  constexpr gex_OP_t fetching = GEX_OP_GET | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_FADD |
                                GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FSUB |
                                GEX_OP_FINC | GEX_OP_FDEC | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR;
  return (op & fetching) != 0;
}

/// Integers wrap around.
template <class T, class F>
T compute(T left, T right, F f) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(f(bits_of(left), bits_of(right)));
  else
    return f(left, right);
}

/// The target's value after the operation.
template <class T>
T after(gex_OP_t op, T op0, T op1, T op2) {
  const T one = 1;
  switch (op) {
    case GEX_OP_ADD:
    case GEX_OP_FADD:
      return compute(op0, op1, [](auto x, auto y) { return x + y; });
    case GEX_OP_SUB:
    case GEX_OP_FSUB:
      return compute(op0, op1, [](auto x, auto y) { return x - y; });
    case GEX_OP_MULT:
    case GEX_OP_FMULT:
      return compute(op0, op1, [](auto x, auto y) { return x * y; });
    case GEX_OP_MIN:
    case GEX_OP_FMIN:
      return op0 < op1 ? op0 : op1;
    case GEX_OP_MAX:
    case GEX_OP_FMAX:
      return op0 > op1 ? op0 : op1;
    case GEX_OP_INC:
    case GEX_OP_FINC:
      return compute(op0, one, [](auto x, auto y) { return x + y; });
    case GEX_OP_DEC:
    case GEX_OP_FDEC:
      return compute(op0, one, [](auto x, auto y) { return x - y; });
    case GEX_OP_SET:
    case GEX_OP_SWAP:
      return op1;
    case GEX_OP_CAS:
    case GEX_OP_FCAS:
      return bits_of(op0) == bits_of(op1) ? op2 : op0;
    case GEX_OP_GET:
      return op0;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == GEX_OP_AND || op == GEX_OP_FAND) return op0 & op1;
    if (op == GEX_OP_OR || op == GEX_OP_FOR) return op0 | op1;
    if (op == GEX_OP_XOR || op == GEX_OP_FXOR) return op0 ^ op1;
  }
  return op0;
}

/// Values all over a type's range, its ends and small numbers more often than chance; finite, so
/// that no operation on two of them makes a NaN.
template <class T>
class Values {
 public:
  explicit Values(std::uint64_t seed) : random_(seed) {}

  T operator()() {
    using Limits = std::numeric_limits<T>;
    const std::array<T, 8> special = {
        T{0}, T{1}, T(-1), Limits::max(), Limits::min(), Limits::lowest(), T(Limits::max() - 1),
        T(7)};
    const std::uint64_t choice = random_();
    if (choice % 4 == 0) return special[choice / 4 % special.size()];
    if (choice % 4 == 1) return static_cast<T>(static_cast<int>(choice / 4 % 2001) - 1000);
    for (;;) {
      const T value = std::bit_cast<T>(static_cast<Bits<T>>(random_()));
      if constexpr (std::is_integral_v<T>)
        return value;
      else if (std::isfinite(value))
        return value;
    }
  }
  std::uint64_t number() { return random_(); }

 private:
  std::mt19937_64 random_;
};

}  // namespace atomic_arithmetic
