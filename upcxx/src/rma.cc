#include <upcxx/rma.hpp>

#include "process.h"

namespace upcxx::detail {

void start_put(Operation* operation, const PointerParts& destination, const void* source,
               std::size_t bytes, bool source_is_free) {
  gex_Event_t local = GEX_EVENT_INVALID;
  operation->event = gex_RMA_PutNB(process().world, gex_Rank_t(destination.rank),
                                   reinterpret_cast<void*>(destination.address), source, bytes,
                                   source_is_free ? GEX_EVENT_NOW : &local, 0);
  operation->source_event = local;
  watch(operation);
}

void start_get(Operation* operation, void* destination, const PointerParts& source,
               std::size_t bytes) {
  operation->event = gex_RMA_GetNB(process().world, destination, gex_Rank_t(source.rank),
                                   reinterpret_cast<void*>(source.address), bytes, 0);
  watch(operation);
}

}  // namespace upcxx::detail
