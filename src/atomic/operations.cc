#include "atomic/operations.h"

#include <bit>
#include <iterator>

namespace gex::atomic {

namespace {

constexpr gex_OP_t accessors = GEX_OP_SET | GEX_OP_CAS | GEX_OP_GET | GEX_OP_SWAP | GEX_OP_FCAS;
constexpr gex_OP_t arithmetic =
    GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC;
constexpr gex_OP_t bitwise = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;

constexpr gex_OP_t with_fetching(gex_OP_t operations) {
  return operations | GEX_OP_TO_FETCHING(operations);
}

struct Type {
  const char* name;
  gex_OP_t operations;
};
constexpr gex_OP_t of_floats = accessors | with_fetching(arithmetic);
constexpr gex_OP_t of_integers = of_floats | with_fetching(bitwise);

/// By bit number.
constexpr Type types[] = {
    {"GEX_DT_I32", of_integers}, {"GEX_DT_U32", of_integers}, {"GEX_DT_I64", of_integers},
    {"GEX_DT_U64", of_integers}, {"GEX_DT_FLT", of_floats},   {"GEX_DT_DBL", of_floats},
};
constexpr const char* operation_names[] = {
    "GEX_OP_AND",  "GEX_OP_OR",   "GEX_OP_XOR",   "GEX_OP_ADD",  "GEX_OP_SUB",
    "GEX_OP_MULT", "GEX_OP_MIN",  "GEX_OP_MAX",   "GEX_OP_INC",  "GEX_OP_DEC",
    "GEX_OP_SET",  "GEX_OP_CAS",  "GEX_OP_FAND",  "GEX_OP_FOR",  "GEX_OP_FXOR",
    "GEX_OP_FADD", "GEX_OP_FSUB", "GEX_OP_FMULT", "GEX_OP_FMIN", "GEX_OP_FMAX",
    "GEX_OP_FINC", "GEX_OP_FDEC", "GEX_OP_SWAP",  "GEX_OP_FCAS", "GEX_OP_GET",
};

/// The row of a single bit, or the table's size.
template <std::size_t size, class Row>
std::size_t row_of(const Row (&)[size], std::uint32_t bit) noexcept {
  if (!std::has_single_bit(bit)) return size;
  const auto row = static_cast<std::size_t>(std::countr_zero(bit));
  return row < size ? row : size;
}

}  // namespace

const char* name_of_type(gex_DT_t type) noexcept {
  const std::size_t row = row_of(types, type);
  return row < std::size(types) ? types[row].name : nullptr;
}

const char* name_of_operation(gex_OP_t operation) noexcept {
  const std::size_t row = row_of(operation_names, operation);
  return row < std::size(operation_names) ? operation_names[row] : nullptr;
}

gex_OP_t operations_of(gex_DT_t type) noexcept {
  const std::size_t row = row_of(types, type);
  return row < std::size(types) ? types[row].operations : 0;
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
