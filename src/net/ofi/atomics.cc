#include "net/ofi/atomics.h"

#include <gasnet_fwd.h>

#include <cstring>
#include <iterator>
#include <map>
#include <tuple>

namespace gex::net::ofi {

namespace {

struct Type {
  std::uint32_t data_type;
  fi_datatype type;
  std::uint32_t width;
};
constexpr Type types[] = {
    {GEX_DT_I32, FI_INT32, 4},  {GEX_DT_U32, FI_UINT32, 4}, {GEX_DT_I64, FI_INT64, 8},
    {GEX_DT_U64, FI_UINT64, 8}, {GEX_DT_FLT, FI_FLOAT, 4},  {GEX_DT_DBL, FI_DOUBLE, 8},
};
constexpr std::uint32_t floats = GEX_DT_FLT | GEX_DT_DBL;

struct Counterpart {
  std::uint32_t operation;  ///< not fetching, or GEX_OP_GET
  fi_op of_provider;
  AtomicPlan::Operand operand;
  bool of_integers_only;
};
using Operand = AtomicPlan::Operand;
// MIN and MAX of floating point are left out because a NaN need not win or lose as ours does, and
// CAS because ours compares bits.
constexpr Counterpart counterparts[] = {
    {GEX_OP_AND, FI_BAND, Operand::first, true},
    {GEX_OP_OR, FI_BOR, Operand::first, true},
    {GEX_OP_XOR, FI_BXOR, Operand::first, true},
    {GEX_OP_ADD, FI_SUM, Operand::first, false},
    {GEX_OP_SUB, FI_SUM, Operand::negated, false},
    {GEX_OP_MULT, FI_PROD, Operand::first, false},
    {GEX_OP_MIN, FI_MIN, Operand::first, true},
    {GEX_OP_MAX, FI_MAX, Operand::first, true},
    {GEX_OP_INC, FI_SUM, Operand::one, false},
    {GEX_OP_DEC, FI_SUM, Operand::minus_one, false},
    {GEX_OP_SET, FI_ATOMIC_WRITE, Operand::first, false},
    {GEX_OP_CAS, FI_CSWAP, Operand::first, true},
    {GEX_OP_GET, FI_ATOMIC_READ, Operand::first, false},
};

const Type* type_of(std::uint32_t data_type) noexcept {
  for (const Type& type : types)
    if (type.data_type == data_type) return &type;
  return nullptr;
}

template <class T>
void write_as(Operand operand, const void* first, void* to) noexcept {
  T value{};
  std::memcpy(&value, first, sizeof value);
  switch (operand) {
    case Operand::first:
      break;
    case Operand::negated:
      value = -value;
      break;
    case Operand::one:
      value = T{1};
      break;
    case Operand::minus_one:
      value = -T{1};
      break;
  }
  std::memcpy(to, &value, sizeof value);
}

/// The number of bits in a mask of operations.
constexpr std::uint32_t operation_bits = 25;

}  // namespace

bool has_operation(fid_ep* endpoint, const AtomicPlan& plan) noexcept {
  std::size_t count = 0;
  const int result = plan.compares
                         ? fi_compare_atomicvalid(endpoint, plan.type, plan.operation, &count)
                         : fi_fetch_atomicvalid(endpoint, plan.type, plan.operation, &count);
  return result == 0 && count != 0;
}

std::optional<AtomicPlan> atomic_plan(std::uint32_t data_type, std::uint32_t operation) noexcept {
  const Type* type = type_of(data_type);
  if (type == nullptr) return std::nullopt;
  const bool has_plain = operation > GEX_OP_CAS && operation != GEX_OP_GET;
  const std::uint32_t plain = has_plain ? GEX_OP_TO_NONFETCHING(operation) : operation;
  for (const Counterpart& counterpart : counterparts) {
    if (counterpart.operation != plain) continue;
    if (counterpart.of_integers_only && (data_type & floats) != 0) return std::nullopt;
    return AtomicPlan{.type = type->type,
                      .width = type->width,
                      .operation = counterpart.of_provider,
                      .operand = counterpart.operand,
                      .compares = plain == GEX_OP_CAS};
  }
  return std::nullopt;
}

void write_operand(const AtomicPlan& plan, const void* first, void* to) noexcept {
  // Signed integers as unsigned ones, whose overflow is defined.
  if (plan.type == FI_DOUBLE)
    write_as<double>(plan.operand, first, to);
  else if (plan.type == FI_FLOAT)
    write_as<float>(plan.operand, first, to);
  else if (plan.width == sizeof(std::uint64_t))
    write_as<std::uint64_t>(plan.operand, first, to);
  else
    write_as<std::uint32_t>(plan.operand, first, to);
}

AtomicOperations AtomicOperations::of(fid_ep* endpoint) noexcept {
  AtomicOperations operations;
  static_assert(std::size(types) == std::tuple_size_v<decltype(by_type_)>);
  for (std::size_t type = 0; type < std::size(types); ++type)
    for (std::uint32_t bit = 0; bit < operation_bits; ++bit) {
      const std::uint32_t operation = 1U << bit;
      const std::optional<AtomicPlan> plan = atomic_plan(types[type].data_type, operation);
      if (plan && has_operation(endpoint, *plan)) operations.by_type_[type] |= operation;
    }
  return operations;
}

std::uint32_t AtomicOperations::on(std::uint32_t data_type) const noexcept {
  const Type* type = type_of(data_type);
  return type == nullptr ? 0 : by_type_[static_cast<std::size_t>(type - types)];
}

void AtomicOperations::keep_if(const std::function<bool(const AtomicPlan& plan)>& keep) {
  for (std::size_t type = 0; type < std::size(types); ++type) {
    std::map<fi_op, bool> answers;
    for (std::uint32_t bit = 0; bit < operation_bits; ++bit) {
      const std::uint32_t operation = 1U << bit;
      if ((by_type_[type] & operation) == 0) continue;
      const AtomicPlan plan = *atomic_plan(types[type].data_type, operation);
      const auto [answer, is_new] = answers.try_emplace(plan.operation);
      if (is_new) answer->second = keep(plan);
      if (!answer->second) by_type_[type] &= ~operation;
    }
  }
}

void AtomicOperations::intersect(const AtomicOperations& other) noexcept {
  for (std::size_t type = 0; type < by_type_.size(); ++type) by_type_[type] &= other.by_type_[type];
}

}  // namespace gex::net::ofi
