// Entry points: broadcast and reductions.

#include "coll/coll.h"

#include <gasnet_coll.h>

#include <cstddef>

#include "api/require.h"
#include "base/error.h"
#include "coll/reduction.h"
#include "core/data_types.h"
#include "observe/in_call.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::InCall;
using gex::coll::Kind;
using gex::coll::Reduction;
using gex::coll::Request;

/// Always checked: it costs little, and with a wrong root the library would write to a wrong place.
void require_root(const gex::Team& team, gex_Rank_t root, Call call) {
  if (root >= team.size) [[unlikely]]
    fatal("%s: root %u is not below the team's size %u", name_of(call), root, team.size);
}

void require_buffers(const Request& request, gex_Rank_t rank) {
  if (request.bytes == 0) return;
  const char* const call = name_of(request.call);
  if (gex::coll::writes_destination(request, rank) && request.destination == nullptr)
    fatal("%s: dst is null", call);
  if (gex::coll::reads_source(request, rank) && request.source == nullptr)
    fatal("%s: src is null", call);
}

/// Ends the job with what is wrong with a reduction that cannot be carried out.
[[noreturn, gnu::cold]] void refuse_reduction(Call called, gex_DT_t dt, std::size_t dt_sz,
                                              gex_OP_t op) {
  const char* call = name_of(called);
  const char* type = gex::name_of_type(dt);
  if (type == nullptr) fatal("%s: dt 0x%x is not one data type", call, dt);
  const char* operation = gex::name_of_operation(op);
  if (operation == nullptr) fatal("%s: op 0x%x is not one operation", call, op);
  if (dt_sz == 0) fatal("%s: dt_sz is 0", call);
  const std::size_t element = gex::coll::bytes_of(dt);
  if (element != 0 && dt_sz != element)
    fatal("%s: dt_sz is %zu, but %s has %zu bytes", call, dt_sz, type, element);
  if (op == GEX_OP_USER || op == GEX_OP_USER_NC)
    fatal("%s: user_op is null, and op is %s", call, operation);
  fatal("%s: %s is not a reduction of %s", call, operation, type);
}

/// The client's reduction; always checked, because there must be something to call.
Reduction reduction_of(Call call, gex_DT_t dt, std::size_t dt_sz, gex_OP_t op,
                       gex_Coll_ReduceFn_t user_op, const void* user_cdata) {
  Reduction reduction;
  reduction.element = dt_sz;
  const std::size_t element = gex::coll::bytes_of(dt);
  bool possible = dt_sz != 0 && (element != 0 ? dt_sz == element : dt == GEX_DT_USER);
  if (op == GEX_OP_USER || op == GEX_OP_USER_NC) {
    reduction.user = user_op;
    reduction.user_data = user_cdata;
    reduction.ordered = op == GEX_OP_USER_NC;
    possible = possible && user_op != nullptr;
  } else {
    reduction.builtin = gex::coll::builtin_of(dt, op);
    possible = possible && reduction.builtin != nullptr;
  }
  if (!possible) [[unlikely]]
    refuse_reduction(call, dt, dt_sz, op);
  return reduction;
}

gex_Event_t reduce(Call call, Kind kind, gex::Team& team, gex_Rank_t root, void* dst,
                   const void* src, gex_DT_t dt, std::size_t dt_sz, std::size_t dt_cnt, gex_OP_t op,
                   gex_Coll_ReduceFn_t user_op, void* user_cdata) {
  Request request;
  request.call = call;
  request.kind = kind;
  request.root = root;
  request.destination = static_cast<std::byte*>(dst);
  request.source = static_cast<const std::byte*>(src);
  request.type = dt;
  request.operation = op;
  request.reduction = reduction_of(call, dt, dt_sz, op, user_op, user_cdata);
  if (__builtin_mul_overflow(dt_sz, dt_cnt, &request.bytes)) [[unlikely]]
    fatal("%s: %zu elements of %zu bytes exceed the address space", name_of(call), dt_cnt, dt_sz);
  if (checked()) require_buffers(request, team.rank);
  return gex::coll::start_collective(team, request);
}

}  // namespace

extern "C" {

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src,
                                 size_t nbytes, gex_Flags_t flags) {
  InCall call(Call::broadcast);
  gex::Team& team = gex::require_collective_team(call, tm, flags);
  require_root(team, root, call);
  Request request;
  request.call = call;
  request.kind = Kind::broadcast;
  request.root = root;
  request.destination = static_cast<std::byte*>(dst);
  request.source = static_cast<const std::byte*>(src);
  request.bytes = nbytes;
  if (checked()) require_buffers(request, team.rank);
  return call.returns(gex::coll::start_collective(team, request));
}

gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src,
                                   gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t flags) {
  InCall call(Call::reduce_to_one);
  gex::Team& team = gex::require_collective_team(call, tm, flags);
  require_root(team, root, call);
  return call.returns(reduce(call, Kind::reduce_to_one, team, root, dst, src, dt, dt_sz, dt_cnt, op,
                             user_op, user_cdata));
}

gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t flags) {
  InCall call(Call::reduce_to_all);
  gex::Team& team = gex::require_collective_team(call, tm, flags);
  return call.returns(reduce(call, Kind::reduce_to_all, team, 0, dst, src, dt, dt_sz, dt_cnt, op,
                             user_op, user_cdata));
}

}  // extern "C"
