#pragma once
// What operations each type of an atomic domain has, and how the processor performs one.

#include <gasnet_ratomic.h>

#include <cstddef>
#include <cstdint>

#include "core/data_types.h"
#include "core/thread.h"

namespace gex::atomic {

/// All operations of that type; 0 if it is none of the six types of atomic domains.
gex_OP_t operations_of(gex_DT_t type) noexcept;

inline bool is_type(gex_DT_t type) noexcept {
  return operations_of(type) != 0;
}

/// Whether `operation` is a single operation of that type.
inline bool is_operation_of(gex_DT_t type, gex_OP_t operation) noexcept {
  return (operation & (operation - 1)) == 0 && (operation & operations_of(type)) != 0;
}

/// Bytes of an object of that type, also its alignment.
inline std::size_t size_of(gex_DT_t type) noexcept {
  return (type & GEX_AD_WIDE_) != 0 ? 8 : 4;
}

inline bool fetches(gex_OP_t operation) noexcept {
  return (operation & GEX_AD_FETCHING_) != 0;
}

/// The category in which its implicit form completes.
inline Category_index category_of(gex_OP_t operation) noexcept {
  return operation == GEX_OP_SET ? ec_put : operation == GEX_OP_GET ? ec_get : ec_rmw;
}

/// `gex_ad_apply_` for a type and an operation of it that are known only now.
std::uint64_t apply(gex_DT_t type, void* at, gex_OP_t operation, std::uint64_t operand1,
                    std::uint64_t operand2, gex_Flags_t flags) noexcept;

}  // namespace gex::atomic
