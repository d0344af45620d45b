#include <upcxx/copy.hpp>

#include "process.h"

namespace upcxx::detail {
namespace {

/// An end of a copy that is here: its address, and the endpoint that it is used with.
struct Own {
  gex_EP_t endpoint = nullptr;
  void* address = nullptr;
};

/// Without an address if it is not here.
Own own(const PointerParts& parts) {
  Process& made = process();
  if (void* const address = address_here(parts)) return {made.endpoint, address};
  if (parts.rank != job.rank_me) return {};
  if (parts.device >= made.endpoints.size() || made.endpoints[parts.device] == nullptr) {
    fatal_error("the allocator that the device's memory is of has been destroyed", "upcxx::copy");
  }
  return {made.endpoints[parts.device], reinterpret_cast<void*>(parts.address)};
}

}  // namespace

void start_copy(Operation* operation, const PointerParts& destination, const PointerParts& source,
                std::size_t bytes, bool source_is_free) {
  // What is got may be written anywhere on this host, and what is put may be read anywhere.
  const Own from = address_here(destination) != nullptr ? Own() : own(source);
  if (from.address != nullptr) {
    gex_Event_t local = GEX_EVENT_INVALID;
    operation->event =
        gex_RMA_PutNB(gex_TM_Pair(from.endpoint, destination.device), gex_Rank_t(destination.rank),
                      reinterpret_cast<void*>(destination.address), from.address, bytes,
                      source_is_free ? GEX_EVENT_NOW : &local, 0);
    operation->source_event = local;
  } else {
    const Own to = own(destination);
    operation->event =
        gex_RMA_GetNB(gex_TM_Pair(to.endpoint, source.device), to.address, gex_Rank_t(source.rank),
                      reinterpret_cast<void*>(source.address), bytes, 0);
  }
  watch(operation);
}

}  // namespace upcxx::detail
