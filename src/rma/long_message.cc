#include "rma/long_message.h"

#include <atomic>
#include <memory>
#include <utility>

#include "am/deferred_send.h"
#include "am/kept_outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "observe/restricted.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "rma/way.h"

namespace gex::rma {

namespace {

/// Immediate requests beyond this number are refused while so many are deferred.
constexpr std::uint32_t max_deferred_requests = 32;
/// Relaxed wherever it is used: only a count.
std::atomic<std::uint32_t> deferred_requests{0};

/// A message with its payload on the way.
struct DeferredMessage final : am::DeferredSend {
  DeferredMessage(am::Route by, const am::Outbound& original) : route(by), kept(original) {}

  am::Route route;  ///< of a reply; a request takes the lane of the thread whose poll sends it
  am::KeptOutbound kept;
  ResolvedTransfer transfer;
  std::size_t sent = 0;
  StdCompletion::Word acknowledged{0};

  bool advance() noexcept override;
};

/// The put of a message's payload.
ResolvedTransfer transfer_to(const Target& peer, const am::Outbound& message) noexcept {
  ResolvedTransfer transfer{.call = Call::request_long,
                            .peer = peer,
                            .local = const_cast<void*>(message.payload),
                            .remote = reinterpret_cast<std::uintptr_t>(message.destination),
                            .size = message.size,
                            .local_kind = kind_at(message.payload)};
  choose_way(transfer, *message.segment, transfer.size);
  return transfer;
}

/// Ends the job if a neighbor's end of a put is not in its segment. That of another process is
/// checked there.
void require_inside(am::Route route, const am::Outbound& message) noexcept {
  if (route.link != nullptr &&
      !message.segment->contains(reinterpret_cast<std::uintptr_t>(message.destination),
                                 message.size))
    fatal("a long message of %zu bytes to %p does not lie in the bound segment of rank %u",
          message.size, message.destination, route.jobrank);
}

/// Sends what parts find room. Returns whether the message is on its way, too.
bool DeferredMessage::advance() noexcept {
  while (sent < transfer.size) {
    const std::size_t bytes = put_part(transfer, sent, &acknowledged, /*immediate=*/true);
    if (bytes == 0) return false;
    sent += bytes;
  }
  if (StdCompletion::load_acquire(acknowledged) != message_parts_of(transfer)) return false;
  if (kept.message.what.is_reply()) {
    am::send_reply_by_route(route, kept.message);
    return true;
  }
  if (am::send_request(transfer.peer.jobrank, kept.message, /*immediate=*/true) != 0) return false;
  deferred_requests.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

/// Defers a message to the peer of its put, with a copy of all that it refers to.
void defer_message(am::Route route, const am::Outbound& message,
                   const ResolvedTransfer& transfer) noexcept {
  auto waiting = std::make_unique<DeferredMessage>(route, message);
  waiting->kept.message.placed = true;
  waiting->kept.message.payload = nullptr;
  waiting->transfer = transfer;
  waiting->transfer.local = waiting->kept.payload.get();
  am::defer(std::move(waiting));
}

}  // namespace

namespace detail {

int request_after_put(const Target& target, am::Route route, am::Outbound& message,
                      bool immediate) noexcept {
  require_inside(route, message);
  ResolvedTransfer transfer = transfer_to(target, message);
  if (immediate) {
    if (deferred_requests.load(std::memory_order_relaxed) >= max_deferred_requests) return 1;
    deferred_requests.fetch_add(1, std::memory_order_relaxed);
    defer_message(route, message, transfer);
    return 0;
  }
  put_blocking(transfer, 0);
  message.placed = true;
  return am::send_request(route, message, /*immediate=*/false);
}

void reply_after_put(gex_Token_t token, am::Route route, const am::Outbound& message) noexcept {
  require_inside(route, message);
  const auto endpoint = static_cast<gex_EP_Index_t>(message.what.endpoints().target());
  defer_message(route, message, transfer_to({token->endpoint, route.jobrank, endpoint}, message));
  token->may_reply = false;
}

}  // namespace detail

int commit_long_request(gex_AM_SrcDesc_t prepared, const Target& target, am::Outbound& message,
                        gex_Flags_t flags) noexcept {
  if (!detail::goes_ahead(prepared->route, message)) return am::commit(prepared, message, flags);
  am::complete_prepared(*prepared, message);
  const bool immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  if (detail::request_after_put(target, prepared->route, message, immediate) != 0) return 1;
  am::cancel(prepared);
  return 0;
}

int commit_long_reply(gex_AM_SrcDesc_t prepared, am::Outbound& message,
                      gex_Flags_t flags) noexcept {
  if (!detail::goes_ahead(prepared->route, message)) return am::commit(prepared, message, flags);
  am::require_unanswered(*prepared);
  am::complete_prepared(*prepared, message);
  detail::reply_after_put(prepared->token, prepared->route, message);
  am::cancel(prepared);
  return 0;
}

}  // namespace gex::rma
