#pragma once
// The operations that each type of remote atomics has, and how the processor performs one on memory
// that it shares with others.

#include <gex/atomic_operations.h>

#include <cstddef>
#include <cstdint>

namespace gex::atomic {

/// All operations of that type; 0 if it is not one of the six types of atomic domains.
gex_OP_t operations_of(gex_DT_t type) noexcept;

/// Bytes of an object of that type, also its alignment.
inline std::size_t size_of(gex_DT_t type) noexcept {
  return (type & GEX_AD_WIDE_) != 0 ? 8 : 4;
}

inline bool fetches(gex_OP_t operation) noexcept {
  return (operation & GEX_AD_FETCHING_) != 0;
}

/// `gex_ad_apply_` for a type and an operation of it that are known only now.
std::uint64_t apply(gex_DT_t type, void* at, gex_OP_t operation, std::uint64_t operand1,
                    std::uint64_t operand2, gex_Flags_t flags) noexcept;

}  // namespace gex::atomic
