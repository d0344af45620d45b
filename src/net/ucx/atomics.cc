#include "net/ucx/atomics.h"

#include <gasnet_fwd.h>

#include <cstring>

namespace gex::net::ucx {

namespace {

struct Type {
  std::uint32_t data_type;
  std::uint32_t width;
  bool is_integer;
};
constexpr Type types[] = {
    {GEX_DT_I32, 4, true}, {GEX_DT_U32, 4, true},  {GEX_DT_I64, 8, true},
    {GEX_DT_U64, 8, true}, {GEX_DT_FLT, 4, false}, {GEX_DT_DBL, 8, false},
};

using Operand = AtomicPlan::Operand;
struct Counterpart {
  const char* name;
  std::uint32_t operation;  ///< not fetching, or GEX_OP_GET
  ucp_atomic_op_t of_ucx;
  Operand operand;
  bool of_integers_only;
};
// AND, OR and XOR are not among them: UCX 1.13 stores a wrong value where it fetches from the
// process itself. UCX compares and moves bits, as ours does with floating point in what is left to
// it here.
constexpr Counterpart counterparts[] = {
    {"ADD", GEX_OP_ADD, UCP_ATOMIC_OP_ADD, Operand::first, true},
    {"SUB", GEX_OP_SUB, UCP_ATOMIC_OP_ADD, Operand::negated, true},
    {"INC", GEX_OP_INC, UCP_ATOMIC_OP_ADD, Operand::one, true},
    {"DEC", GEX_OP_DEC, UCP_ATOMIC_OP_ADD, Operand::minus_one, true},
    {"SET", GEX_OP_SET, UCP_ATOMIC_OP_SWAP, Operand::first, false},
    {"CAS", GEX_OP_CAS, UCP_ATOMIC_OP_CSWAP, Operand::first, false},
    {"GET", GEX_OP_GET, UCP_ATOMIC_OP_ADD, Operand::zero, false},
};

const Type* type_of(std::uint32_t data_type) noexcept {
  for (const Type& type : types)
    if (type.data_type == data_type) return &type;
  return nullptr;
}

}  // namespace

std::optional<AtomicPlan> atomic_plan(std::uint32_t data_type, std::uint32_t operation) noexcept {
  const Type* const type = type_of(data_type);
  if (type == nullptr) return std::nullopt;
  const bool has_plain = operation > GEX_OP_CAS && operation != GEX_OP_GET;
  const std::uint32_t plain = has_plain ? GEX_OP_TO_NONFETCHING(operation) : operation;
  for (const Counterpart& counterpart : counterparts) {
    if (counterpart.operation != plain) continue;
    if (counterpart.of_integers_only && !type->is_integer) return std::nullopt;
    return AtomicPlan{.operation = counterpart.of_ucx,
                      .width = type->width,
                      .operand = counterpart.operand,
                      .compares = plain == GEX_OP_CAS};
  }
  return std::nullopt;
}

std::uint64_t operand_of(const AtomicPlan& plan, const void* first) noexcept {
  std::uint64_t value = 0;
  switch (plan.operand) {
    case Operand::first:
    case Operand::negated:
      std::memcpy(&value, first, plan.width);
      break;
    case Operand::one:
      value = 1;
      break;
    case Operand::minus_one:
      value = ~std::uint64_t{0};
      break;
    case Operand::zero:
      break;
  }
  // The low half of a negated word is the negated half, and comes first.
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return plan.operand == Operand::negated ? -value : value;
}

std::uint32_t atomic_operations(std::uint32_t data_type) noexcept {
  std::uint32_t operations = 0;
  for (std::uint32_t bit = 0; bit <= 24; ++bit)
    if (atomic_plan(data_type, 1U << bit)) operations |= 1U << bit;
  return operations;
}

std::string names_of_operations(std::uint32_t data_type) {
  const std::uint32_t operations = atomic_operations(data_type);
  std::string names;
  for (const Counterpart& one : counterparts)
    if ((operations & one.operation) != 0) names.append(names.empty() ? "" : ", ").append(one.name);
  return names;
}

}  // namespace gex::net::ucx
