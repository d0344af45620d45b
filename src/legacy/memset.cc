#include "legacy/memset.h"

#include <cstring>

#include "am/internal.h"
#include "am/message.h"
#include "core/initiate.h"
#include "core/memory.h"
#include "rma/messages.h"

namespace gex::legacy {

namespace {

using am::Packed;
using am::Wide;

constinit am::Internal memset_message{"memset"};

struct Memset {
  Wide address;
  Wide target;
  Wide size;
  std::int32_t value;
};

void on_memset(gex_Token_t token, const Memset& request, void*, std::size_t) noexcept {
  const std::size_t size = request.size;
  fill_memory(rma::own_range(token, request.address, size, "a memset"), request.value, size);
  rma::reply_done(token, request.target);
}

Injected inject(const rma::ResolvedTransfer& transfer, int value,
                const CompletionTargets& targets) noexcept {
  const Packed packed(Memset{transfer.remote, Wide(targets.done), transfer.size, value});
  am::Outbound message = packed.message_for(memset_message);
  message.what.set_endpoints(am::endpoints_of(transfer.peer));
  am::send_request(transfer.peer.jobrank, message, false);
  return {1};
}

/// Fills memory that needs no message; false if it does.
bool done_here(const rma::ResolvedTransfer& transfer, int value) noexcept {
  if (transfer.size == 0) return true;
  if (transfer.mapped == nullptr) return false;
  std::memset(transfer.mapped, value, transfer.size);
  return true;
}

}  // namespace

void memset_blocking(const rma::ResolvedTransfer& transfer, int value) noexcept {
  if (done_here(transfer, value)) return;
  initiate_blocking(transfer.as(OpKind::put), [&](const CompletionTargets& targets) noexcept {
    return inject(transfer, value, targets);
  });
}

void memset_implicit(const rma::ResolvedTransfer& transfer, int value) noexcept {
  if (done_here(transfer, value)) return;
  initiate_implicit(
      transfer.as(OpKind::put), ec_put, LocalCompletion::with_done,
      [&](const CompletionTargets& targets) noexcept { return inject(transfer, value, targets); });
}

gex_Event_t memset_explicit(const rma::ResolvedTransfer& transfer, int value) noexcept {
  if (done_here(transfer, value)) return GEX_EVENT_INVALID;
  return initiate_with_event(transfer.as(OpKind::put), ec_put, LocalCompletion::with_done,
                             [&](const CompletionTargets& targets) noexcept {
                               return inject(transfer, value, targets);
                             })
      .event;
}

void start_memset() {
  am::register_request<on_memset>(memset_message);
}

}  // namespace gex::legacy
