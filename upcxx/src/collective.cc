#include <upcxx/collective.hpp>

#include "process.h"

namespace upcxx::detail {

namespace {

gex_TM_t handle_of(const team& of, const char* call) {
  require_order(call);
  if (!of.is_active()) fatal_error("the team is not active", call);
  return static_cast<gex_TM_t>(of.handle());
}

}  // namespace

void start_barrier(Operation* operation, const team& of) {
  operation->event = gex_Coll_BarrierNB(handle_of(of, "upcxx::barrier_async"), 0);
  watch(operation);
}

void start_broadcast(Operation* operation, void* data, std::size_t bytes, intrank_t root,
                     const team& of) {
  operation->event = gex_Coll_BroadcastNB(handle_of(of, "upcxx::broadcast"), gex_Rank_t(root), data,
                                          data, bytes, 0);
  watch(operation);
}

void start_reduction(Operation* operation, const void* source, void* destination, std::size_t size,
                     std::size_t count, Combine combine, const void* operation_data, intrank_t root,
                     const team& of) {
  const gex_TM_t handle = handle_of(of, root < 0 ? "upcxx::reduce_all" : "upcxx::reduce_one");
  void* const data = const_cast<void*>(operation_data);
  operation->event =
      root < 0 ? gex_Coll_ReduceToAllNB(handle, destination, source, GEX_DT_USER, size, count,
                                        GEX_OP_USER_NC, combine, data, 0)
               : gex_Coll_ReduceToOneNB(handle, gex_Rank_t(root), destination, source, GEX_DT_USER,
                                        size, count, GEX_OP_USER_NC, combine, data, 0);
  watch(operation);
}

}  // namespace upcxx::detail
