// Which atomic operations the simulated interface has, and what they do.

#include <atomic>
#include <concepts>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "endpoint.h"
#include "knobs.h"

namespace gexsim {

namespace {

/// Calls `use` with a value of the C++ type; false: there is none.
template <class Use>
bool with_type(fi_datatype type, Use use) {
  switch (type) {
    case FI_INT32:
      use(std::int32_t{});
      return true;
    case FI_UINT32:
      use(std::uint32_t{});
      return true;
    case FI_INT64:
      use(std::int64_t{});
      return true;
    case FI_UINT64:
      use(std::uint64_t{});
      return true;
    case FI_FLOAT:
      use(float{});
      return true;
    case FI_DOUBLE:
      use(double{});
      return true;
    default:
      return false;
  }
}

template <class T>
T value_of(std::uint64_t bits) {
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Integers wrap around, as unsigned ones do.
template <class T>
T sum(T left, T right) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(left) +
                          static_cast<std::make_unsigned_t<T>>(right));
  else
    return left + right;
}
template <class T>
T product(T left, T right) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(left) *
                          static_cast<std::make_unsigned_t<T>>(right));
  else
    return left * right;
}

template <class T>
T after(fi_op operation, T former, T operand, T expected) {
  switch (operation) {
    case FI_MIN:
      return operand < former ? operand : former;
    case FI_MAX:
      return operand > former ? operand : former;
    case FI_SUM:
      return sum(former, operand);
    case FI_PROD:
      return product(former, operand);
    case FI_ATOMIC_WRITE:
      return operand;
    case FI_CSWAP:
      return former == expected ? operand : former;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == FI_BOR) return static_cast<T>(former | operand);
    if (operation == FI_BAND) return static_cast<T>(former & operand);
    if (operation == FI_BXOR) return static_cast<T>(former ^ operand);
  }
  return former;
}

std::string_view name_of(fi_op operation) {
  switch (operation) {
    case FI_SUM:
      return "sum";
    case FI_MIN:
      return "min";
    case FI_MAX:
      return "max";
    case FI_BOR:
      return "bor";
    case FI_BAND:
      return "band";
    case FI_BXOR:
      return "bxor";
    case FI_CSWAP:
      return "cswap";
    case FI_ATOMIC_READ:
      return "read";
    case FI_ATOMIC_WRITE:
      return "write";
    case FI_PROD:
      return "prod";
    default:
      return "";
  }
}

}  // namespace

bool has_name(fi_op operation, std::string_view name) {
  return !name.empty() && name_of(operation) == name;
}

std::size_t width_of(fi_datatype type) {
  std::size_t width = 0;
  with_type(type, [&](auto value) { width = sizeof value; });
  return width;
}

bool has_atomic(fi_datatype type, fi_op operation, bool is_compare) {
  const std::string& kind = knobs().atomics;
  const std::string_view name = name_of(operation);
  if (kind == "none" || name.empty() || width_of(type) == 0) return false;
  if (has_name(operation, knobs().atomic_missing)) return false;
  if ((operation == FI_CSWAP) != is_compare) return false;
  const bool is_float = type == FI_FLOAT || type == FI_DOUBLE;
  if (is_float && (operation == FI_BOR || operation == FI_BAND || operation == FI_BXOR))
    return false;
  if (kind == "cxi") return operation != FI_PROD;
  if (kind == "ib")
    return (type == FI_UINT64 || type == FI_INT64) &&
           (operation == FI_SUM || operation == FI_CSWAP);
  return true;
}

std::uint64_t operate_on(std::byte* memory, fi_datatype type, fi_op operation,
                         std::uint64_t operand, std::uint64_t expected) {
  std::uint64_t result = 0;
  with_type(type, [&](auto example) {
    using T = decltype(example);
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    // Threads of the client's may look at the word meanwhile.
    std::atomic_ref<Bits> word(*reinterpret_cast<Bits*>(memory));
    Bits former = word.load();
    for (;;) {
      const T next =
          after(operation, value_of<T>(former), value_of<T>(operand), value_of<T>(expected));
      Bits bits = 0;
      std::memcpy(&bits, &next, sizeof next);
      if (word.compare_exchange_weak(former, bits)) break;
    }
    result = former;
  });
  return result;
}

}  // namespace gexsim
