#pragma once
// An atomic operation: one call's arguments, which operations there are for a type
// (base/atomic_operations.h), and the category in which each completes.

#include <gasnet_ratomic.h>

#include <cstdint>

#include "base/atomic_operations.h"
#include "core/data_types.h"
#include "core/thread.h"
#include "rma/resolved_transfer.h"

namespace gex::atomic {

/// One operation, arguments checked and flags resolved.
struct AtomicRequest {
  gex_DT_t type;
  gex_OP_t opcode;
  std::uint64_t operand1;
  std::uint64_t operand2;
  bool by_network;
  rma::ResolvedTransfer target;  ///< its local side is the result, if the operation fetches
};

inline bool is_type(gex_DT_t type) noexcept {
  return operations_of(type) != 0;
}

/// Returns true if `operation` is a single operation of that type.
inline bool is_operation_of(gex_DT_t type, gex_OP_t operation) noexcept {
  return (operation & (operation - 1)) == 0 && (operation & operations_of(type)) != 0;
}

/// The category in which its implicit form completes.
inline Category_index category_of(gex_OP_t operation) noexcept {
  return operation == GEX_OP_SET ? ec_put : operation == GEX_OP_GET ? ec_get : ec_rmw;
}

}  // namespace gex::atomic
