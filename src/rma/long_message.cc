#include "rma/long_message.h"

#include <cstring>
#include <memory>
#include <vector>

#include "am/copy.h"
#include "am/token.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"
#include "core/thread.h"
#include "rma/reference.h"
#include "rma/rma.h"

namespace gex::rma {

namespace {

/// A reply with its payload on the way.
struct KeptReply {
  _gex_Token token;
  am::Outbound message;
  alignas(16) gex_AM_Arg_t args[max_args];
  std::unique_ptr<std::byte[]> payload;
  Transfer transfer;
  std::size_t sent = 0;
  StdCompletion::Word acknowledged{0};
};

struct KeptReplies {
  SpinLock lock;
  std::vector<std::unique_ptr<KeptReply>> list;
};
Immortal<KeptReplies> the_kept_replies;

Transfer transfer_to(gex_EP_t local_endpoint, gex_Rank_t jobrank, gex_EP_Index_t endpoint,
                     void* destination, const void* payload, std::size_t size) noexcept {
  return {local_endpoint,
          jobrank,
          endpoint,
          const_cast<void*>(payload),
          reinterpret_cast<std::uintptr_t>(destination),
          nullptr,
          size};
}

/// Judged here, because a neighbor's end of a put is.
void require_inside(const PublishedSegment& segment, gex_Rank_t jobrank, const void* destination,
                    std::size_t size) noexcept {
  if (!segment.contains(reinterpret_cast<std::uintptr_t>(destination), size))
    fatal("a long message of %zu bytes to %p does not lie in the bound segment of rank %u", size,
          destination, jobrank);
}

/// Sends what parts find room. Returns whether the reply is on its way, too.
bool advance(KeptReply& reply) noexcept {
  while (reply.sent < reply.transfer.size) {
    const std::size_t bytes =
        put_part(reply.transfer, reply.sent, &reply.acknowledged, /*immediate=*/true);
    if (bytes == 0) return false;
    reply.sent += bytes;
  }
  if (StdCompletion::load_acquire(reply.acknowledged) != parts_of(reply.transfer)) return false;
  am::send_reply(&reply.token, reply.message);
  return true;
}

bool advance_replies() noexcept {
  KeptReplies& kept = the_kept_replies.get();
  // One thread at a time: the others' polls have nothing to add.
  if (!kept.lock.try_lock()) return false;
  const std::size_t gone = std::erase_if(kept.list, [](auto& reply) { return advance(*reply); });
  kept.lock.unlock();
  for (std::size_t i = 0; i < gone; ++i) unwant_polls();
  return gone != 0;
}

}  // namespace

int put_ahead(const Peer& peer, void* destination, const void* payload, std::size_t size,
              bool immediate) noexcept {
  require_inside(peer.segment(), peer.jobrank, destination, size);
  return put_blocking(
      transfer_to(peer.local_endpoint, peer.jobrank, peer.endpoint, destination, payload, size),
      immediate ? GEX_FLAG_IMMEDIATE : 0);
}

void reply_after_put(gex_Token_t token, const am::Outbound& message) noexcept {
  const Endpoints ends = token->header.endpoints();
  const gex_Rank_t requester = token->header.source;
  require_inside(published_segment(ends.source_address(), requester), requester,
                 message.destination, message.size);
  auto reply = std::make_unique<KeptReply>();
  reply->token = *token;
  token->may_reply = false;
  reply->message = message;
  reply->message.placed = true;
  am::copy_chunks(reply->args, message.args, message.arg_count * sizeof *message.args);
  reply->message.args = reply->args;
  reply->payload = std::make_unique<std::byte[]>(message.size);
  std::memcpy(reply->payload.get(), message.payload, message.size);
  reply->message.payload = nullptr;
  reply->transfer =
      transfer_to(token->endpoint, requester, static_cast<gex_EP_Index_t>(ends.source()),
                  message.destination, reply->payload.get(), message.size);
  KeptReplies& kept = the_kept_replies.get();
  const OptionalGuard guard(kept.lock, true);
  kept.list.push_back(std::move(reply));
  want_polls();
}

void start_long_messages() {
  register_poller(advance_replies);
}

}  // namespace gex::rma
