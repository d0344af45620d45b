#pragma once
// The operations of reductions on two vectors of elements.
//
// The operations are those of the specification: integers wrap around; MIN is a < b ? a : b and MAX
// a > b ? a : b, so that a NaN on either side gives b. User operators are called with exactly the
// operands that stand here.

#include <gasnet_coll.h>

#include <cstddef>

namespace gex::coll {

/// result[i] = left[i] (+) right[i], for `bytes` of whole elements. No vector need be aligned. The
/// result may be one of the operands, and does not overlap them otherwise.
using Builtin = void (*)(const void* left, const void* right, void* result,
                         std::size_t bytes) noexcept;

/// The operation of a built-in type; null if there is none.
Builtin builtin_of(gex_DT_t type, gex_OP_t operation) noexcept;

/// Bytes of a built-in type; 0 for any other.
std::size_t bytes_of(gex_DT_t type) noexcept;

struct Reduction {
  std::size_t element = 1;    ///< bytes
  Builtin builtin = nullptr;  ///< null: the user's
  gex_Coll_ReduceFn_t user = nullptr;
  const void* user_data = nullptr;
  bool ordered = false;  ///< not commutative: operands keep the order of their ranks

  /// Returns true if it calls a function of the client's.
  bool is_of_client() const noexcept { return builtin == nullptr && user != nullptr; }

  /// right[i] = left[i] (+) right[i] for `bytes` of whole elements.
  void apply(const std::byte* left, std::byte* right, std::size_t bytes) const noexcept;
  /// result[i] = left[i] (+) right[i]. The result may be an operand if this is a built-in one.
  void apply(const std::byte* left, const std::byte* right, std::byte* result,
             std::size_t bytes) const noexcept;
};

}  // namespace gex::coll
