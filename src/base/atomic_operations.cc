#include "base/atomic_operations.h"

#include <bit>

namespace gex::atomic {

namespace {

constexpr gex_OP_t accessors = GEX_OP_SET | GEX_OP_CAS | GEX_OP_GET | GEX_OP_SWAP | GEX_OP_FCAS;
constexpr gex_OP_t arithmetic =
    GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC;
constexpr gex_OP_t bitwise = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;

constexpr gex_OP_t with_fetching(gex_OP_t operations) {
  return operations | GEX_OP_TO_FETCHING(operations);
}

constexpr gex_OP_t of_floats = accessors | with_fetching(arithmetic);
constexpr gex_OP_t of_integers = of_floats | with_fetching(bitwise);

constexpr gex_DT_t float_types = GEX_DT_FLT | GEX_DT_DBL;
constexpr gex_DT_t integer_types = GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64;

}  // namespace

gex_OP_t operations_of(gex_DT_t type) noexcept {
  if (!std::has_single_bit(type)) return 0;
  if ((type & integer_types) != 0) return of_integers;
  return (type & float_types) != 0 ? of_floats : 0;
}

std::uint64_t apply(gex_DT_t type, void* at, gex_OP_t operation, std::uint64_t operand1,
                    std::uint64_t operand2, gex_Flags_t flags) noexcept {
  switch (type) {
    case GEX_DT_I32:
      return gex_ad_apply_(GEX_DT_I32, at, operation, operand1, operand2, flags);
    case GEX_DT_U32:
      return gex_ad_apply_(GEX_DT_U32, at, operation, operand1, operand2, flags);
    case GEX_DT_I64:
      return gex_ad_apply_(GEX_DT_I64, at, operation, operand1, operand2, flags);
    case GEX_DT_U64:
      return gex_ad_apply_(GEX_DT_U64, at, operation, operand1, operand2, flags);
    case GEX_DT_FLT:
      return gex_ad_apply_(GEX_DT_FLT, at, operation, operand1, operand2, flags);
    case GEX_DT_DBL:
      return gex_ad_apply_(GEX_DT_DBL, at, operation, operand1, operand2, flags);
    default:
      return 0;
  }
}

}  // namespace gex::atomic
