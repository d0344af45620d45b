#include "legacy/memset.h"

#include <cstring>

#include "am/internal.h"
#include "core/initiate.h"
#include "rma/reference.h"
#include "shm/message.h"

namespace gex::legacy {

namespace {

using am::get_word;
using am::Internal;
using am::put_word;

// memset: address, target, size, value -> done: target
void on_memset(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args, unsigned) noexcept {
  const std::size_t size = get_word(args + 4);
  std::memset(rma::own_range(token, get_word(args), size, "a memset"), args[6], size);
  alignas(16) const gex_AM_Arg_t reply_args[4] = {args[2], args[3], 0, 0};
  am::Outbound reply;
  reply.handler = static_cast<std::uint8_t>(Internal::rma_done);
  reply.arg_count = 2;
  reply.args = reply_args;
  am::send_reply(token, reply);
}

Injected inject(const rma::Transfer& transfer, int value, const Targets& targets) noexcept {
  alignas(16) gex_AM_Arg_t args[8] = {};
  put_word(args, transfer.remote);
  put_word(args + 2, reinterpret_cast<std::uint64_t>(targets.done));
  put_word(args + 4, transfer.size);
  args[6] = value;
  am::Outbound message;
  message.handler = static_cast<std::uint8_t>(Internal::memset);
  message.arg_count = 7;
  message.args = args;
  message.endpoints = am::endpoints_of(transfer.local_endpoint, transfer.endpoint);
  am::send_request(transfer.jobrank, message, false);
  return {1};
}

/// What needs no message.
bool done_here(const rma::Transfer& transfer, int value) noexcept {
  if (transfer.size == 0) return true;
  if (transfer.mapped == nullptr) return false;
  std::memset(transfer.mapped, value, transfer.size);
  return true;
}

}  // namespace

void memset_blocking(const rma::Transfer& transfer, int value) noexcept {
  if (done_here(transfer, value)) return;
  initiate_blocking(
      [&](const Targets& targets) noexcept { return inject(transfer, value, targets); });
}

void memset_implicit(const rma::Transfer& transfer, int value) noexcept {
  if (done_here(transfer, value)) return;
  initiate_implicit(ec_put, LocalCompletion::with_done, [&](const Targets& targets) noexcept {
    return inject(transfer, value, targets);
  });
}

gex_Event_t memset_explicit(const rma::Transfer& transfer, int value) noexcept {
  if (done_here(transfer, value)) return GEX_EVENT_INVALID;
  return initiate_with_event(
             ec_put, LocalCompletion::with_done,
             [&](const Targets& targets) noexcept { return inject(transfer, value, targets); })
      .event;
}

void start_memset() {
  am::register_internal(Internal::memset, on_memset, {.is_reply = false, .least_args = 7});
}

}  // namespace gex::legacy
