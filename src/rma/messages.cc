#include "rma/messages.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "am/internal.h"
#include "am/limits.h"
#include "am/token.h"
#include "base/error.h"
#include "base/round_up.h"
#include "base/tsan.h"
#include "core/memory.h"
#include "core/objects.h"
#include "rma/injection.h"
#include "rma/staging.h"

namespace gex::rma {

namespace {

using am::Outbound;
using am::Packed;
using am::Wide;

constinit am::Internal put_message{"put"};
constinit am::Internal get_message{"get"};
constinit am::Internal get_data{"data of a get"};
constinit am::Internal put_done{"put is done"};

/// Bytes of a part. Gets come back in one medium reply, so both have a medium's limit.
std::size_t part_bytes(const ResolvedTransfer& transfer) noexcept {
  return am::max_medium(transfer.peer.jobrank);
}

struct Put {
  Wide address;
  Wide done;
};
struct Get {
  Wide address;
  Wide done;
  Wide destination;
  std::uint32_t size;
};
struct Data {
  Wide done;
  Wide destination;
};
struct Done {
  Wide done;
};

/// Puts and gets of the same memory are ordered by the processes that ask for them: the address by
/// which ThreadSanitizer is shown that order (base/tsan.h).
char order_of_peers;

/// The kind of memory of another kind than the host's, of which there are bytes.
const MemoryKind* device_kind_of(const void* start, std::size_t size) noexcept {
  return size != 0 ? kind_at(start) : nullptr;
}

void on_put(gex_Token_t token, const Put& put, void* payload, std::size_t size) noexcept {
  order_through_peer_ends(&order_of_peers);
  std::byte* const to = size != 0 ? own_range(token, put.address, size, "a put") : nullptr;
  if (const MemoryKind* const kind = device_kind_of(to, size)) [[unlikely]] {
    deliver_staged(*kind, to, payload, size, token, put.done,
                   [](gex_Token_t of, Wide done) noexcept {
                     order_through_peer_begins(&order_of_peers);
                     reply_done(of, done);
                   });
    return;
  }
  if (size != 0) std::memcpy(to, payload, size);
  order_through_peer_begins(&order_of_peers);
  reply_done(token, put.done);
}

void on_done(gex_Token_t, const Done& answer, void*, std::size_t) noexcept {
  complete(answer.done.as<CompletionTarget>());
}

/// Answers a get.
void send_data(gex_Token_t token, Wide done, Wide destination, const std::byte* from,
               std::size_t size) noexcept {
  order_through_peer_begins(&order_of_peers);
  const Packed packed(Data{done, destination});
  Outbound reply = packed.message_for(get_data);
  reply.what.set_category(Category::medium);
  reply.payload = from;
  reply.size = size;
  am::reply_to(token, reply);
}

void on_get(gex_Token_t token, const Get& get, void*, std::size_t) noexcept {
  const std::size_t size = get.size;
  if (size > max_medium_payload) fatal("rank %u: a get of %zu bytes", token->header.source, size);
  const std::byte* from = size != 0 ? own_range(token, get.address, size, "a get") : nullptr;
  order_through_peer_ends(&order_of_peers);
  if (const MemoryKind* const kind = device_kind_of(from, size)) [[unlikely]] {
    fetch_staged(*kind, from, size, token, get.done, get.destination, send_data);
    return;
  }
  // For ThreadSanitizer, which is to see it read before the reply leaves.
  std::vector<std::byte> copy;
  if (under_tsan && size != 0) {
    copy.assign(from, from + size);
    from = copy.data();
  }
  send_data(token, get.done, get.destination, from, size);
}

void on_data(gex_Token_t token, const Data& data, void* payload, std::size_t size) noexcept {
  auto* destination = data.destination.as<std::byte*>();
  order_through_peer_ends(destination);
  if (const MemoryKind* const kind = device_kind_of(destination, size)) [[unlikely]] {
    deliver_staged(*kind, destination, payload, size, token, data.done,
                   [](gex_Token_t, Wide done) noexcept { complete(done.as<CompletionTarget>()); });
    return;
  }
  if (size != 0) std::memcpy(destination, payload, size);
  complete(data.done.as<CompletionTarget>());
}

/// Asks for the part at `offset`; the bytes that it covers, or 0 if it was refused.
std::size_t get_part(const ResolvedTransfer& transfer, std::size_t offset, CompletionTarget done,
                     bool immediate) noexcept {
  const std::size_t bytes = part_size(transfer, offset);
  std::byte* destination = static_cast<std::byte*>(transfer.local) + offset;
  const Packed packed(Get{transfer.remote + offset, Wide(done), Wide(destination),
                          static_cast<std::uint32_t>(bytes)});
  Outbound message = packed.message_for(get_message);
  message.what.set_endpoints(am::endpoints_of(transfer.peer));
  order_through_peer_begins(destination);
  return am::send_request(transfer.peer.jobrank, message, immediate) == 0 ? bytes : 0;
}

/// A transfer that is made of messages. One that is not immediate waits for room as each part is
/// sent.
struct MessageInjection : ContiguousInjection {
  bool immediate;

  bool inject_next() noexcept {
    const std::size_t bytes = put ? put_part(transfer, injected, done, immediate)
                                  : get_part(transfer, injected, done, immediate);
    injected += bytes;
    return bytes != 0;
  }
};

/// The remainder of a put whose source is the client's again, from a copy.
struct FromOwnCopy final : DeferredInjection<MessageInjection> {
  explicit FromOwnCopy(const MessageInjection& begun) : DeferredInjection(begun) {
    ResolvedTransfer& left = injection.transfer;
    left.size -= injection.injected;
    left.remote += injection.injected;
    payload = std::make_unique_for_overwrite<std::byte[]>(left.size);
    copy_memory(payload.get(), static_cast<std::byte*>(left.local) + injection.injected, left.size);
    left.local = payload.get();
    left.local_kind = nullptr;
    injection.injected = 0;
  }

  std::unique_ptr<std::byte[]> payload;
};

template <class Deferred>
Injected inject(MessageInjection injection) noexcept {
  if (!inject_all<Deferred>(injection, injection.immediate)) return not_injected;
  return {message_parts_of(injection.transfer)};
}

}  // namespace

gex_Segment_t segment_of_receiver(gex_Token_t token) noexcept {
  const gex_EP_t endpoint = endpoint_at(token->header.endpoints().target_address());
  return endpoint != nullptr ? endpoint->segment : nullptr;
}

std::byte* own_range(gex_Token_t token, std::uint64_t address, std::size_t size,
                     const char* what) noexcept {
  const gex_Segment_t segment = segment_of_receiver(token);
  auto* start = reinterpret_cast<std::byte*>(address);
  if (segment == nullptr || !segment->contains(start, size))
    fatal("rank %u: %s of %zu bytes at %p is outside this process's bound segment",
          token->header.source, what, size, static_cast<void*>(start));
  return start;
}

void reply_done(gex_Token_t token, Wide done) noexcept {
  am::reply_with(token, put_done, Done{done});
}

std::uint32_t message_parts_of(const ResolvedTransfer& transfer) noexcept {
  return static_cast<std::uint32_t>(quotient_up(transfer.size, part_bytes(transfer)));
}

std::size_t part_size(const ResolvedTransfer& transfer, std::size_t offset) noexcept {
  return std::min(part_bytes(transfer), transfer.size - offset);
}

std::size_t put_part(const ResolvedTransfer& transfer, std::size_t offset, CompletionTarget done,
                     bool immediate) noexcept {
  const OnHost from(static_cast<const std::byte*>(transfer.local) + offset,
                    part_size(transfer, offset));
  return put_part_from(transfer, offset, from.get(), done, immediate);
}

std::size_t put_part_from(const ResolvedTransfer& transfer, std::size_t offset, const void* from,
                          CompletionTarget done, bool immediate) noexcept {
  const Packed packed(Put{transfer.remote + offset, Wide(done)});
  Outbound message = packed.message_for(put_message);
  message.what.set_category(Category::medium);
  message.what.set_endpoints(am::endpoints_of(transfer.peer));
  message.size = part_size(transfer, offset);
  message.payload = from;
  return am::send_request(transfer.peer.jobrank, message, immediate) == 0 ? message.size : 0;
}

Injected put_by_messages(const ResolvedTransfer& transfer, CompletionTarget done,
                         bool immediate) noexcept {
  return inject<FromOwnCopy>({{transfer, /*put=*/true, done}, immediate});
}

Injected get_by_messages(const ResolvedTransfer& transfer, CompletionTarget done,
                         bool immediate) noexcept {
  return inject<DeferredInjection<MessageInjection>>({{transfer, /*put=*/false, done}, immediate});
}

void start_messages() {
  am::register_request<on_put>(put_message);
  am::register_reply<on_done>(put_done);
  am::register_request<on_get>(get_message);
  am::register_reply<on_data>(get_data);
}

}  // namespace gex::rma
