#include "rma/reference.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "am/internal.h"
#include "am/limits.h"
#include "am/token.h"
#include "base/error.h"
#include "base/tsan.h"
#include "core/objects.h"
#include "rma/kept.h"

namespace gex::rma {

namespace {

using am::get_word;
using am::Internal;
using am::Outbound;
using am::put_word;

/// Bytes of a part. Gets come back in one medium reply, so both have a medium's limit.
std::size_t part_bytes(const Transfer& transfer) noexcept {
  return am::max_medium(transfer.jobrank);
}

Outbound message_of(const Transfer& transfer, Internal handler, Category category,
                    const gex_AM_Arg_t* args, std::uint8_t arg_count) noexcept {
  Outbound message;
  message.handler = static_cast<std::uint8_t>(handler);
  message.category = category;
  message.arg_count = arg_count;
  message.args = args;
  message.endpoints = am::endpoints_of(transfer.local_endpoint, transfer.endpoint);
  return message;
}

/// Puts and gets of the same memory come one after the other through the processes that ask for
/// them: the address that says so (base/tsan.h).
char order_of_peers;

// put: address, target -> done: target
void on_put(gex_Token_t token, void* payload, std::size_t size, const gex_AM_Arg_t* args,
            unsigned) noexcept {
  order_through_peer_ends(&order_of_peers);
  if (size != 0) std::memcpy(own_range(token, get_word(args), size, "a put"), payload, size);
  order_through_peer_begins(&order_of_peers);
  alignas(16) const gex_AM_Arg_t reply_args[4] = {args[2], args[3], 0, 0};
  Outbound reply;
  reply.handler = static_cast<std::uint8_t>(Internal::rma_done);
  reply.arg_count = 2;
  reply.args = reply_args;
  am::send_reply(token, reply);
}

void on_done(gex_Token_t, void*, std::size_t, const gex_AM_Arg_t* args, unsigned) noexcept {
  complete(reinterpret_cast<CompletionTarget>(get_word(args)));
}

// get: remote address, target, local address, size -> data: target, local address
void on_get(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args, unsigned) noexcept {
  const auto size = static_cast<std::size_t>(static_cast<std::uint32_t>(args[6]));
  if (size > max_medium_payload) fatal("rank %u: a get of %zu bytes", token->header.source, size);
  alignas(16) const gex_AM_Arg_t reply_args[4] = {args[2], args[3], args[4], args[5]};
  Outbound reply;
  reply.handler = static_cast<std::uint8_t>(Internal::rma_data);
  reply.category = Category::medium;
  reply.arg_count = 4;
  reply.args = reply_args;
  const std::byte* from = size != 0 ? own_range(token, get_word(args), size, "a get") : nullptr;
  order_through_peer_ends(&order_of_peers);
  // To be read before the reply can be seen to have left.
  std::vector<std::byte> read_under_tsan;
  if (under_tsan && size != 0) {
    read_under_tsan.assign(from, from + size);
    from = read_under_tsan.data();
  }
  order_through_peer_begins(&order_of_peers);
  reply.payload = from;
  reply.size = size;
  am::send_reply(token, reply);
}

void on_data(gex_Token_t, void* payload, std::size_t size, const gex_AM_Arg_t* args,
             unsigned) noexcept {
  auto* destination = reinterpret_cast<void*>(get_word(args + 2));
  order_through_peer_ends(destination);
  if (size != 0) std::memcpy(destination, payload, size);
  complete(reinterpret_cast<CompletionTarget>(get_word(args)));
}

/// The same for a get.
std::size_t get_part(const Transfer& transfer, std::size_t offset, CompletionTarget target,
                     bool immediate) noexcept {
  const std::size_t bytes = std::min(part_bytes(transfer), transfer.size - offset);
  std::byte* destination = static_cast<std::byte*>(transfer.local) + offset;
  alignas(16) gex_AM_Arg_t args[8] = {};
  put_word(args, transfer.remote + offset);
  put_word(args + 2, reinterpret_cast<std::uint64_t>(target));
  put_word(args + 4, reinterpret_cast<std::uint64_t>(destination));
  args[6] = static_cast<gex_AM_Arg_t>(bytes);
  const Outbound message =
      message_of(transfer, Internal::rma_get, Category::short_message, args, 7);
  order_through_peer_begins(destination);
  return am::send_request(transfer.jobrank, message, immediate) == 0 ? bytes : 0;
}

/// put_part or get_part.
using SendPart = std::size_t (*)(const Transfer& transfer, std::size_t offset,
                                 CompletionTarget target, bool immediate) noexcept;

/// Injects part after part. Returns the bytes of those before the first that was refused, which
/// only an immediate one can be.
std::size_t send_parts(const Transfer& transfer, CompletionTarget target, bool immediate,
                       SendPart send) noexcept {
  std::size_t offset = 0;
  while (offset < transfer.size) {
    const std::size_t bytes = send(transfer, offset, target, immediate);
    if (bytes == 0) break;
    offset += bytes;
  }
  return offset;
}

/// The parts of an immediate transfer that found no room when the first had gone: its call may
/// neither be refused any more nor wait.
struct Rest final : Kept {
  Transfer transfer;
  CompletionTarget target;
  SendPart send;
  std::unique_ptr<std::byte[]> payload;  ///< of a put, whose source is the client's again
  std::size_t sent = 0;

  bool advance() noexcept override {
    Transfer left = transfer;
    left.local = static_cast<std::byte*>(left.local) + sent;
    left.remote += sent;
    left.size -= sent;
    sent += send_parts(left, target, /*immediate=*/true, send);
    return sent == transfer.size;
  }
};

std::unique_ptr<Rest> rest_of(const Transfer& transfer, std::size_t sent, CompletionTarget target,
                              SendPart send) {
  auto rest = std::make_unique<Rest>();
  rest->transfer = transfer;
  rest->transfer.local = static_cast<std::byte*>(transfer.local) + sent;
  rest->transfer.remote += sent;
  rest->transfer.size -= sent;
  rest->target = target;
  rest->send = send;
  return rest;
}

}  // namespace

std::byte* own_range(gex_Token_t token, std::uint64_t address, std::size_t size,
                     const char* what) noexcept {
  const gex_EP_t endpoint = endpoint_at(token->header.endpoints().target_address());
  auto* start = reinterpret_cast<std::byte*>(address);
  if (endpoint == nullptr || endpoint->segment == nullptr ||
      !endpoint->segment->contains(start, size))
    fatal("rank %u: %s of %zu bytes at %p is outside this process's bound segment",
          token->header.source, what, size, static_cast<void*>(start));
  return start;
}

std::uint32_t parts_of(const Transfer& transfer) noexcept {
  const std::size_t limit = part_bytes(transfer);
  return static_cast<std::uint32_t>((transfer.size + limit - 1) / limit);
}

std::size_t put_part(const Transfer& transfer, std::size_t offset, CompletionTarget target,
                     bool immediate) noexcept {
  alignas(16) gex_AM_Arg_t args[4];
  put_word(args, transfer.remote + offset);
  put_word(args + 2, reinterpret_cast<std::uint64_t>(target));
  Outbound message = message_of(transfer, Internal::rma_put, Category::medium, args, 4);
  message.payload = static_cast<const std::byte*>(transfer.local) + offset;
  message.size = std::min(part_bytes(transfer), transfer.size - offset);
  return am::send_request(transfer.jobrank, message, immediate) == 0 ? message.size : 0;
}

int put_parts(const Transfer& transfer, CompletionTarget target, bool immediate) noexcept {
  const std::size_t sent = send_parts(transfer, target, immediate, put_part);
  if (sent == transfer.size) return 0;
  if (sent == 0) return 1;
  std::unique_ptr<Rest> rest = rest_of(transfer, sent, target, put_part);
  rest->payload = std::make_unique<std::byte[]>(rest->transfer.size);
  std::memcpy(rest->payload.get(), rest->transfer.local, rest->transfer.size);
  rest->transfer.local = rest->payload.get();
  keep(std::move(rest));
  return 0;
}

int get_parts(const Transfer& transfer, CompletionTarget target, bool immediate) noexcept {
  const std::size_t sent = send_parts(transfer, target, immediate, get_part);
  if (sent == transfer.size) return 0;
  if (sent == 0) return 1;
  keep(rest_of(transfer, sent, target, get_part));
  return 0;
}

void start_reference() {
  am::register_internal(Internal::rma_put, on_put, {.is_reply = false, .least_args = 4});
  am::register_internal(Internal::rma_done, on_done, {.is_reply = true, .least_args = 2});
  am::register_internal(Internal::rma_get, on_get, {.is_reply = false, .least_args = 7});
  am::register_internal(Internal::rma_data, on_data, {.is_reply = true, .least_args = 4});
}

}  // namespace gex::rma
