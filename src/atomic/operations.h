#pragma once
// The operations of atomic domains: what shm/atomic_operations.h has, and the categories in which
// they complete.

#include <gasnet_ratomic.h>

#include "core/data_types.h"
#include "core/thread.h"
#include "shm/atomic_operations.h"

namespace gex::atomic {

using shm::apply;
using shm::fetches;
using shm::operations_of;
using shm::size_of;

inline bool is_type(gex_DT_t type) noexcept {
  return operations_of(type) != 0;
}

/// Whether `operation` is a single operation of that type.
inline bool is_operation_of(gex_DT_t type, gex_OP_t operation) noexcept {
  return (operation & (operation - 1)) == 0 && (operation & operations_of(type)) != 0;
}

/// The category in which its implicit form completes.
inline Category_index category_of(gex_OP_t operation) noexcept {
  return operation == GEX_OP_SET ? ec_put : operation == GEX_OP_GET ? ec_get : ec_rmw;
}

}  // namespace gex::atomic
