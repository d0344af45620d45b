#pragma once
// Which of libgex's atomic operations a provider carries out, and as which of its own.
//
// All go as fetching operations, whose completion means that the operation has been carried out,
// whatever other completions the provider has.

#include <rdma/fi_atomic.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "net/ofi/fabric.h"

namespace gex::net::ofi {

/// An operation of libgex's, on a type (GEX_OP_*, GEX_DT_*), as the provider's.
struct AtomicPlan {
  /// The provider's operand is made of one of these.
  enum class Operand : std::uint8_t { first, negated, one, minus_one };

  fi_datatype type;
  std::uint32_t width;  ///< bytes of the type
  fi_op operation;
  Operand operand = Operand::first;
  bool compares = false;  ///< with the first operand, and writes the second
};

/// Such an operation reads and writes these words here.
struct AtomicWords {
  std::uint64_t operand;
  std::uint64_t expected;
  std::uint64_t former;
};

/// Null if no provider has it.
std::optional<AtomicPlan> atomic_plan(std::uint32_t data_type, std::uint32_t operation) noexcept;

/// Returns true if the endpoint claims to have the operation, fetching.
bool has_operation(fid_ep* endpoint, const AtomicPlan& plan) noexcept;

/// The operand that the provider is given, in `width` bytes at `to`.
void write_operand(const AtomicPlan& plan, const void* first, void* to) noexcept;

/// Operations (GEX_OP_* bits) by type.
class AtomicOperations {
 public:
  /// Returns the operations that this endpoint has.
  static AtomicOperations of(fid_ep* endpoint) noexcept;

  std::uint32_t on(std::uint32_t data_type) const noexcept;
  /// Leaves the operations for which `keep` is true. It is called once for each of the provider's.
  void keep_if(const std::function<bool(const AtomicPlan& plan)>& keep);
  /// Leaves what the other has as well.
  void intersect(const AtomicOperations& other) noexcept;

 private:
  std::array<std::uint32_t, 6> by_type_{};
};

}  // namespace gex::net::ofi
