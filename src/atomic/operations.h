#pragma once
// What operations each type of an atomic domain has, and how the processor performs one.

#include <gasnet_ratomic.h>

#include <cstddef>
#include <cstdint>

#include "core/thread.h"

namespace gex::atomic {

/// The name of a type or of a single operation, for messages; null for any other value.
const char* name_of_type(gex_DT_t type) noexcept;
const char* name_of_operation(gex_OP_t operation) noexcept;

/// Whether `type` is one of the six types of atomic domains.
inline bool is_type(gex_DT_t type) noexcept {
  return name_of_type(type) != nullptr;
}

/// All operations of that type.
gex_OP_t operations_of(gex_DT_t type) noexcept;

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
