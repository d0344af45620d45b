#include <upcxx/atomic_domain.hpp>

#include <cstdio>

#include "process.h"

namespace upcxx::detail {
namespace {

struct Op {
  const char* name;
  gex_OP_t code;
};
constexpr Op ops[] = {
    {"load", GEX_OP_GET},
    {"store", GEX_OP_SET},
    {"compare_exchange", GEX_OP_FCAS},
    {"add", GEX_OP_ADD},
    {"fetch_add", GEX_OP_FADD},
    {"sub", GEX_OP_SUB},
    {"fetch_sub", GEX_OP_FSUB},
    {"mul", GEX_OP_MULT},
    {"fetch_mul", GEX_OP_FMULT},
    {"min", GEX_OP_MIN},
    {"fetch_min", GEX_OP_FMIN},
    {"max", GEX_OP_MAX},
    {"fetch_max", GEX_OP_FMAX},
    {"bit_and", GEX_OP_AND},
    {"fetch_bit_and", GEX_OP_FAND},
    {"bit_or", GEX_OP_OR},
    {"fetch_bit_or", GEX_OP_FOR},
    {"bit_xor", GEX_OP_XOR},
    {"fetch_bit_xor", GEX_OP_FXOR},
    {"inc", GEX_OP_INC},
    {"fetch_inc", GEX_OP_FINC},
    {"dec", GEX_OP_DEC},
    {"fetch_dec", GEX_OP_FDEC},
};
constexpr gex_DT_t types[] = {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64,
                              GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL};

constexpr gex_OP_t bit_ops =
    GEX_OP_AND | GEX_OP_FAND | GEX_OP_OR | GEX_OP_FOR | GEX_OP_XOR | GEX_OP_FXOR;

gex_Flags_t flags_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_acquire:
      return GEX_FLAG_AD_ACQ;
    case std::memory_order_release:
      return GEX_FLAG_AD_REL;
    case std::memory_order_relaxed:
      return 0;
    default:
      return GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL;
  }
}

[[noreturn]] void refuse(const char* name, const char* why) {
  char message[192];
  std::snprintf(message, sizeof message, "atomic_domain::%s: %s", name, why);
  fatal_error(message);
}

template <class T>
T value(std::uint64_t bytes) {
  T result;
  std::memcpy(&result, &bytes, sizeof result);
  return result;
}

gex_Event_t begin(const AtomicCall& call, void* result) {
  const auto domain = static_cast<gex_AD_t>(call.domain);
  const auto rank = gex_Rank_t(call.target.rank);
  auto* const target = reinterpret_cast<void*>(call.target.address);
  const gex_OP_t code = ops[int(call.op)].code;
  const gex_Flags_t flags = flags_of(call.order) | GEX_FLAG_RANK_IS_JOBRANK;
  const auto& first = call.operands[0];
  const auto& second = call.operands[1];
  switch (call.type) {
    case AtomicType::int32:
      return gex_AD_OpNB_I32(domain, static_cast<std::int32_t*>(result), rank, target, code,
                             value<std::int32_t>(first), value<std::int32_t>(second), flags);
    case AtomicType::uint32:
      return gex_AD_OpNB_U32(domain, static_cast<std::uint32_t*>(result), rank, target, code,
                             value<std::uint32_t>(first), value<std::uint32_t>(second), flags);
    case AtomicType::int64:
      return gex_AD_OpNB_I64(domain, static_cast<std::int64_t*>(result), rank, target, code,
                             value<std::int64_t>(first), value<std::int64_t>(second), flags);
    case AtomicType::uint64:
      return gex_AD_OpNB_U64(domain, static_cast<std::uint64_t*>(result), rank, target, code,
                             value<std::uint64_t>(first), value<std::uint64_t>(second), flags);
    case AtomicType::float32:
      return gex_AD_OpNB_FLT(domain, static_cast<float*>(result), rank, target, code,
                             value<float>(first), value<float>(second), flags);
    case AtomicType::float64:
      return gex_AD_OpNB_DBL(domain, static_cast<double*>(result), rank, target, code,
                             value<double>(first), value<double>(second), flags);
  }
  return GEX_EVENT_INVALID;
}

}  // namespace

void* make_domain(AtomicType type, const std::vector<atomic_op>& wanted, const team& of) {
  require_unrestricted("atomic_domain");
  if (wanted.empty()) fatal_error("atomic_domain: the set of operations is empty");
  gex_OP_t codes = 0;
  for (const atomic_op op : wanted) {
    const Op& entry = ops[int(op)];
    if (type >= AtomicType::float32 && (entry.code & bit_ops) != 0) {
      refuse(entry.name, "the type is a floating one, which has no operations on bits");
    }
    codes |= entry.code;
  }
  gex_AD_t made = GEX_AD_INVALID;
  gex_AD_Create(&made, static_cast<gex_TM_t>(of.handle()), types[int(type)], codes, 0);
  return made;
}

void end_domain(void* domain, const team& of, entry_barrier how) {
  if (domain == nullptr) fatal_error("atomic_domain::destroy: the domain is not active");
  enter(of, how, "atomic_domain::destroy");
  gex_AD_Destroy(static_cast<gex_AD_t>(domain));
}

void check_atomic(const AtomicCall& call) {
  const auto domain = static_cast<gex_AD_t>(call.domain);
  const Op& entry = ops[int(call.op)];
  if (call.target.address == 0) refuse(entry.name, "the target is null");
  if ((gex_AD_QueryOps(domain) & entry.code) == 0) {
    refuse(entry.name, "the operation is not in the set that the domain was made with");
  }
  if (gex_TM_TranslateJobrankToRank(gex_AD_QueryTM(domain), gex_Rank_t(call.target.rank)) ==
      GEX_RANK_INVALID) {
    refuse(entry.name, "the target is of a rank outside the domain's team");
  }
  const std::memory_order order = call.order;
  const bool is_right = order == std::memory_order_relaxed ||
                        (order == std::memory_order_acquire && call.op != atomic_op::store) ||
                        (order == std::memory_order_release && call.op != atomic_op::load) ||
                        (order == std::memory_order_acq_rel && call.op != atomic_op::load &&
                         call.op != atomic_op::store);
  if (!is_right) refuse(entry.name, "the operation does not have this memory order");
}

void start_atomic(Operation* operation, const AtomicCall& call, void* result) {
  const gex_Event_t event = begin(call, result);
  if (operation == nullptr) {
    gex_Event_Wait(event);
    return;
  }
  operation->event = event;
  watch(operation);
}

}  // namespace upcxx::detail
