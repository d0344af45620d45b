#include "coll/reduction.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/process.h"
#include "core/thread.h"

namespace gex::coll {

namespace {

struct And {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a ^ b;
  }
};
struct Add {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a + b;
  }
};
struct Multiply {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a * b;
  }
};
struct Least {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a < b ? a : b;
  }
};
struct Greatest {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a > b ? a : b;
  }
};

/// The processor combines so many bytes at a time: such vectors are in every x86-64 and arm64.
constexpr std::size_t vector_bytes = 16;

/// One value or vector.
template <class Value, class Operator>
[[gnu::always_inline]] inline void combine_at(const std::byte* left, const std::byte* right,
                                              std::byte* result) noexcept {
  Value x;
  Value y;
  std::memcpy(&x, left, sizeof x);
  std::memcpy(&y, right, sizeof y);
  y = Operator::template combine<Value>(x, y);
  std::memcpy(result, &y, sizeof y);
}

template <class T, class Operator>
void combine(const void* left, const void* right, void* result, std::size_t bytes) noexcept {
  using Vector [[gnu::vector_size(vector_bytes)]] = T;
  const auto* a = static_cast<const std::byte*>(left);
  const auto* b = static_cast<const std::byte*>(right);
  auto* to = static_cast<std::byte*>(result);
  // By hand: the compiler cannot exclude that the result overlaps an operand.
  const std::size_t in_vectors = bytes / vector_bytes * vector_bytes;
  std::size_t at = 0;
#pragma GCC unroll 4
  for (; at != in_vectors; at += vector_bytes)
    combine_at<Vector, Operator>(a + at, b + at, to + at);
  for (; at != bytes; at += sizeof(T)) combine_at<T, Operator>(a + at, b + at, to + at);
}

/// Signed integers wrap around as unsigned ones do; only their order is their own.
template <class T>
Builtin operation_of(gex_OP_t operation) noexcept {
  using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::type_identity<T>>::type;
  switch (operation) {
    case GEX_OP_ADD:
      return combine<Wrapping, Add>;
    case GEX_OP_MULT:
      return combine<Wrapping, Multiply>;
    case GEX_OP_MIN:
      return combine<T, Least>;
    case GEX_OP_MAX:
      return combine<T, Greatest>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (operation == GEX_OP_AND) return combine<T, And>;
    if (operation == GEX_OP_OR) return combine<T, Or>;
    if (operation == GEX_OP_XOR) return combine<T, Xor>;
  }
  return nullptr;
}

}  // namespace

Builtin builtin_of(gex_DT_t type, gex_OP_t operation) noexcept {
  switch (type) {
    case GEX_DT_I32:
      return operation_of<std::int32_t>(operation);
    case GEX_DT_U32:
      return operation_of<std::uint32_t>(operation);
    case GEX_DT_I64:
      return operation_of<std::int64_t>(operation);
    case GEX_DT_U64:
      return operation_of<std::uint64_t>(operation);
    case GEX_DT_FLT:
      return operation_of<float>(operation);
    case GEX_DT_DBL:
      return operation_of<double>(operation);
    default:
      return nullptr;
  }
}

std::size_t bytes_of(gex_DT_t type) noexcept {
  switch (type) {
    case GEX_DT_I32:
    case GEX_DT_U32:
    case GEX_DT_FLT:
      return 4;
    case GEX_DT_I64:
    case GEX_DT_U64:
    case GEX_DT_DBL:
      return 8;
    default:
      return 0;
  }
}

void Reduction::apply(const std::byte* left, std::byte* right, std::size_t bytes) const noexcept {
  if (builtin != nullptr) {
    builtin(left, right, right, bytes);
    return;
  }
  const std::size_t count = bytes / element;
  if (!checked()) {
    user(left, right, count, user_data);
    return;
  }
  ThreadRecord& thread = this_thread();
  ++thread.operator_depth;
  user(left, right, count, user_data);
  --thread.operator_depth;
}

void Reduction::apply(const std::byte* left, const std::byte* right, std::byte* result,
                      std::size_t bytes) const noexcept {
  if (builtin != nullptr) {
    builtin(left, right, result, bytes);
    return;
  }
  std::memcpy(result, right, bytes);
  apply(left, result, bytes);
}

}  // namespace gex::coll
