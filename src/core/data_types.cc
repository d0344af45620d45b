#include "core/data_types.h"

#include <bit>
#include <cstddef>
#include <iterator>

namespace gex {

namespace {

/// By bit number.
constexpr const char* type_names[] = {
    "GEX_DT_I32", "GEX_DT_U32", "GEX_DT_I64",  "GEX_DT_U64",
    "GEX_DT_FLT", "GEX_DT_DBL", "GEX_DT_USER",
};
constexpr const char* operation_names[] = {
    "GEX_OP_AND",  "GEX_OP_OR",   "GEX_OP_XOR",     "GEX_OP_ADD",  "GEX_OP_SUB",  "GEX_OP_MULT",
    "GEX_OP_MIN",  "GEX_OP_MAX",  "GEX_OP_INC",     "GEX_OP_DEC",  "GEX_OP_SET",  "GEX_OP_CAS",
    "GEX_OP_FAND", "GEX_OP_FOR",  "GEX_OP_FXOR",    "GEX_OP_FADD", "GEX_OP_FSUB", "GEX_OP_FMULT",
    "GEX_OP_FMIN", "GEX_OP_FMAX", "GEX_OP_FINC",    "GEX_OP_FDEC", "GEX_OP_SWAP", "GEX_OP_FCAS",
    "GEX_OP_GET",  "GEX_OP_USER", "GEX_OP_USER_NC",
};

template <std::size_t size>
const char* name_of(const char* const (&names)[size], std::uint32_t bit) noexcept {
  if (!std::has_single_bit(bit)) return nullptr;
  const auto number = static_cast<std::size_t>(std::countr_zero(bit));
  return number < size ? names[number] : nullptr;
}

}  // namespace

const char* name_of_type(gex_DT_t type) noexcept {
  return name_of(type_names, type);
}

const char* name_of_operation(gex_OP_t operation) noexcept {
  return name_of(operation_names, operation);
}

}  // namespace gex
