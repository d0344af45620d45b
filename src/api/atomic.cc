// Entry points: atomic domains and their operations, out of line.

#include "atomic/atomic.h"

#include <gasnet_ratomic.h>

#include "api/require.h"
#include "atomic/domain.h"
#include "atomic/operation.h"
#include "base/error.h"
#include "coll/coll.h"
#include "core/team.h"
#include "observe/in_call.h"
#include "rma/rma.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::in_call;
using gex::InCall;
using gex::name_of_operation;
using gex::name_of_type;
using gex::atomic::AtomicRequest;
using gex::atomic::Domain;
using gex::atomic::fetches;
using gex::atomic::require_domain;

constexpr gex_Flags_t favor_flags =
    GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE;
constexpr gex_Flags_t offset_flags = GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET;
constexpr gex_Flags_t locality_flags = GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD;
constexpr gex_Flags_t operation_flags = GEX_FLAG_IMMEDIATE | GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL |
                                        GEX_FLAG_RANK_IS_JOBRANK | offset_flags | locality_flags;

/// The calls that clients make, by the number of their type.
constexpr Call calls_nb[] = {Call::ad_nb_i32, Call::ad_nb_u32, Call::ad_nb_i64,
                             Call::ad_nb_u64, Call::ad_nb_flt, Call::ad_nb_dbl};
constexpr Call calls_nbi[] = {Call::ad_nbi_i32, Call::ad_nbi_u32, Call::ad_nbi_i64,
                              Call::ad_nbi_u64, Call::ad_nbi_flt, Call::ad_nbi_dbl};
unsigned number_of_type(gex_DT_t type) noexcept {
  return static_cast<unsigned>(__builtin_ctz(type));
}

/// Arguments that no domain can be made of are always refused, because a domain is made once and
/// used often; those that are only pointless, and wrong hints, in checked mode.
void require_arguments(gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags, const char* call) {
  if (!gex::atomic::is_type(dt)) fatal("%s: 0x%x is not a data type of atomics", call, dt);
  const gex_OP_t foreign = ops & ~gex::atomic::operations_of(dt);
  if (foreign != 0) {
    const char* name = name_of_operation(foreign & -foreign);
    if (name == nullptr)
      fatal("%s: 0x%x holds bits that are not operations of atomics", call, foreign);
    fatal("%s: %s is not an operation of %s", call, name, name_of_type(dt));
  }
  if (!checked()) return;
  if (ops == 0) fatal("%s: no operation is given", call);
  gex::warn_of_flags(flags, favor_flags, call);
  flags &= favor_flags;
  if ((flags & (flags - 1)) != 0) fatal("%s: more than one AD_FAVOR flag", call);
}

/// The rank in the domain's team.
gex_Rank_t rank_in_team(const Domain& domain, gex_Rank_t rank, gex_Flags_t flags,
                        const char* call) {
  gex::Team& team = gex::Team::from(domain.team);
  if ((flags & GEX_FLAG_RANK_IS_JOBRANK) == 0) return rank;
  const gex_Rank_t member = team.primordial_rank_of(rank);
  if (member == GEX_RANK_INVALID)
    fatal("%s: jobrank %u is not a member of the domain's team", call, rank);
  return member;
}

/// Always: inline code has no instructions for it, and nothing could be done here either.
void require_operation(gex_DT_t type, gex_OP_t opcode, const char* call) {
  if (gex::atomic::is_operation_of(type, opcode)) [[likely]]
    return;
  const char* name = name_of_operation(opcode);
  if (name == nullptr) fatal("%s: the opcode 0x%x is not one operation", call, opcode);
  fatal("%s: %s is not an operation of %s", call, name, name_of_type(type));
}

/// Checks all other arguments than the opcode and the target, in checked mode.
void check(const Domain& domain, gex_DT_t type, const void* result_p, gex_OP_t opcode,
           gex_Flags_t flags, const char* call) {
  gex::require_team(domain.team, call);
  if (type != domain.data_type)
    fatal("%s: the domain is of type %s", call, name_of_type(domain.data_type));
  const char* name = name_of_operation(opcode);
  if ((opcode & domain.operations) == 0)
    fatal("%s: %s is not among the operations that the domain was created with", call, name);
  gex::require_flags(flags, operation_flags, call);
  if ((flags & locality_flags) == locality_flags)
    fatal("%s: GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD exclude one another", call);
  if (fetches(opcode) && result_p == nullptr && (flags & GEX_FLAG_SELF_SEG_OFFSET) == 0)
    fatal("%s: %s fetches, but result_p is null", call, name);
}

void check_target(const Domain& domain, gex_Rank_t rank, const gex::rma::ResolvedTransfer& target,
                  gex_Flags_t flags, const char* call) {
  if (target.remote % target.size != 0)
    fatal("%s: the target %p is not aligned to %zu bytes", call,
          reinterpret_cast<void*>(target.remote), target.size);
  if ((flags & GEX_FLAG_AD_MY_RANK) != 0 && rank != gex::Team::from(domain.team).rank)
    fatal("%s: GEX_FLAG_AD_MY_RANK, but the target is rank %u, and this is rank %u", call, rank,
          gex::Team::from(domain.team).rank);
  if ((flags & GEX_FLAG_AD_MY_NBRHD) != 0 &&
      !gex::process().neighborhood.contains(target.peer.jobrank))
    fatal("%s: GEX_FLAG_AD_MY_NBRHD, but rank %u is not in this process's neighborhood", call,
          target.peer.jobrank);
}

/// The operation as the room performs it.
template <class AnyCall>
AtomicRequest begin(const AnyCall& call, gex_AD_t ad, gex_DT_t type, void* result_p,
                    gex_Rank_t tgt_rank, void* tgt_addr, gex_OP_t opcode, std::uint64_t operand1,
                    std::uint64_t operand2, gex_Flags_t flags) {
  const char* name = name_of(call);
  const Domain& domain = require_domain(ad, name);
  require_operation(type, opcode, name);
  if (call.is_checked()) check(domain, type, result_p, opcode, flags, name);
  const gex_Rank_t rank = rank_in_team(domain, tgt_rank, flags, name);
  if (call.is_checked()) gex::require_peer(domain.team, rank, name);
  const bool fetching = fetches(opcode);
  const gex_Flags_t offsets =
      flags & (fetching ? offset_flags : gex_Flags_t{GEX_FLAG_PEER_SEG_OFFSET});
  // What fetches nothing has no local side; any address stands for one while it is looked at.
  gex::rma::ResolvedTransfer target =
      gex::rma::resolve_transfer(domain.team, rank, fetching ? result_p : &operand1, tgt_addr,
                                 gex::atomic::size_of(type), offsets, call);
  if (!fetching) target.local = nullptr;
  if (call.is_checked()) check_target(domain, rank, target, flags, name);
  const bool by_network = domain.is_for_network() && target.by_atomics();
  return {type, opcode, operand1, operand2, by_network, target};
}

}  // namespace

extern "C" {

void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  const InCall in_call(Call::ad_create, InCall::set_up);
  const char* call = name_of(in_call);
  gex::Team& team = gex::require_team(tm, call);
  if (ad_p == nullptr) fatal("%s: ad_p is null", call);
  require_arguments(dt, ops, flags, call);
  gex::require_capability(team.endpoint, GEX_EP_CAPABILITY_AD, call);
  // Does not wait: a member that differs is found when the announcements of all have arrived.
  if (checked())
    gex::coll::announce(team,
                        {.call = Call::ad_create, .type = dt, .operation = ops, .flags = flags});
  *ad_p = gex::atomic::create(team, dt, ops, flags);
}

void gex_AD_Destroy(gex_AD_t ad) {
  const InCall call(Call::ad_destroy, InCall::set_up);
  delete &require_domain(ad, name_of(call));
}

gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad) {
  return require_domain(ad, __func__).flags;
}
gex_TM_t gex_AD_QueryTM(gex_AD_t ad) {
  return require_domain(ad, __func__).team;
}
gex_DT_t gex_AD_QueryDT(gex_AD_t ad) {
  return require_domain(ad, __func__).data_type;
}
gex_OP_t gex_AD_QueryOps(gex_AD_t ad) {
  return require_domain(ad, __func__).operations;
}
void gex_AD_SetCData(gex_AD_t ad, const void* val) {
  require_domain(ad, __func__).client_data = val;
}
void* gex_AD_QueryCData(gex_AD_t ad) {
  return const_cast<void*>(require_domain(ad, __func__).client_data);
}

gex_Event_t gex_ad_nb_(gex_AD_t ad, gex_DT_t type, void* result_p, gex_Rank_t tgt_rank,
                       void* tgt_addr, gex_OP_t opcode, uint64_t operand1, uint64_t operand2,
                       gex_Flags_t flags) {
  return in_call(calls_nb[number_of_type(type)], [=](auto& call) noexcept {
    return call.returns(gex::atomic::operate_explicit(
        begin(call, ad, type, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags),
        flags));
  });
}

int gex_ad_nbi_(gex_AD_t ad, gex_DT_t type, void* result_p, gex_Rank_t tgt_rank, void* tgt_addr,
                gex_OP_t opcode, uint64_t operand1, uint64_t operand2, gex_Flags_t flags) {
  return in_call(calls_nbi[number_of_type(type)], [=](auto& call) noexcept {
    return call.returns(gex::atomic::operate_implicit(
        begin(call, ad, type, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags),
        flags));
  });
}

}  // extern "C"
