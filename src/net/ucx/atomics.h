#pragma once
// Which of libgex's atomic operations UCX carries out, and as which of its own: additions, swaps
// and comparisons with a swap, on words of 4 and 8 bytes.
//
// All go as fetching operations, whose completion means that the operation has been carried out.

#include <ucp/api/ucp.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gex::net::ucx {

/// An operation of libgex's, on a type (GEX_OP_*, GEX_DT_*), as UCX's.
struct AtomicPlan {
  /// UCX's operand is made of one of these.
  enum class Operand : std::uint8_t { first, negated, one, minus_one, zero };

  ucp_atomic_op_t operation;
  std::uint32_t width;  ///< bytes of the type
  Operand operand;
  bool compares;  ///< with the first operand, and writes the second
};

/// Null if UCX does not have it.
std::optional<AtomicPlan> atomic_plan(std::uint32_t data_type, std::uint32_t operation) noexcept;

/// The operand that UCX is given, in the first `width` bytes.
std::uint64_t operand_of(const AtomicPlan& plan, const void* first) noexcept;

/// The operations on a type, as GEX_OP_* bits.
std::uint32_t atomic_operations(std::uint32_t data_type) noexcept;

/// Returns their names without those that fetch: "ADD, SUB, SET".
std::string names_of_operations(std::uint32_t data_type);

}  // namespace gex::net::ucx
