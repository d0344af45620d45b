#include "vis/messages.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "am/internal.h"
#include "am/limits.h"
#include "am/prepare.h"
#include "am/token.h"
#include "base/error.h"
#include "base/round_up.h"
#include "base/tsan.h"
#include "core/objects.h"
#include "vis/description.h"
#include "vis/injection.h"
#include "vis/peer_completion.h"

namespace gex::vis {

namespace {

using am::get_word;
using am::Internal;
using am::put_word;

std::uint64_t word_of(const void* address) noexcept {
  return reinterpret_cast<std::uint64_t>(address);
}

// put: target, kind, entries [, number, total bytes, handler and size of the notice]
constexpr unsigned put_args = 4;
constexpr unsigned put_args_with_notice = 9;

template <class Region>
std::uint32_t put_region(const Route& route, const Region& peer, const Region& own,
                         std::size_t bytes, const PeerCompletion& notice,
                         CompletionTarget target) noexcept {
  const bool notifies = notice.handler != 0;
  const std::size_t notice_bytes = notifies ? round_up_16(notice.size) : 0;
  const std::uint64_t number = notifies ? next_put_number() : 0;
  const unsigned arg_count = notifies ? put_args_with_notice : put_args;
  const std::size_t limit = am::max_medium(route.tm, route.rank) - notice_bytes;
  const std::size_t most_description = most_description_bytes(peer);
  Injection messages(route, Internal::vis_put, arg_count);
  Cursor at_peer;
  Cursor here;
  std::uint32_t parts = 0;
  for (std::size_t left = bytes; left != 0; ++parts) {
    const std::size_t room = most_description < limit
                                 ? std::min(limit - most_description, left) + most_description
                                 : limit;
    std::byte* out = messages.begin(notice_bytes + room);
    if (out == nullptr) return 0;
    if (notice_bytes != 0) std::memcpy(out, notice.payload, notice.size);
    out += notice_bytes;
    const Part part = describe(peer, at_peer, left, {room, room, room}, out);
    gather(own, here, part.data_bytes, out + part.description_bytes);
    alignas(16) gex_AM_Arg_t args[12] = {};
    put_word(args, word_of(target));
    args[2] = static_cast<gex_AM_Arg_t>(part.kind);
    args[3] = static_cast<gex_AM_Arg_t>(part.entries);
    put_word(args + 4, number);
    put_word(args + 6, bytes);
    args[8] = static_cast<gex_AM_Arg_t>(notice.handler | notice.size << 8);
    if (!messages.send(notice_bytes + part.description_bytes + part.data_bytes, args)) return 0;
    left -= part.data_bytes;
  }
  return parts;
}

/// What a get keeps until its last answer: its own end, the shape copied.
struct PendingGet {
  CompletionTarget target;
  /// The injector's, and one for each part under way.
  std::atomic<std::uint32_t> references{1};
  std::byte* first = nullptr;  ///< of a shape; null: a list
  BlockList list{nullptr, 0};
  Shape shape;

  PendingGet(const StridedRegion& region, CompletionTarget completed) noexcept
      : target(completed), first(region.first) {
    copy_shape(shape, *region.shape);
  }
  PendingGet(const BlockList& region, CompletionTarget completed) noexcept
      : target(completed), list(region) {}

  void unpack(Cursor cursor, std::size_t bytes, const std::byte* from) const noexcept {
    if (first != nullptr)
      scatter(StridedRegion{&shape, own_end, first}, cursor, bytes, from);
    else
      scatter(list, cursor, bytes, from);
  }
  void release() noexcept {
    // Acquire and release: every other holder is done with the record before it is destroyed.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

/// Moves a cursor forward without touching the blocks' memory.
void skip(const StridedRegion& region, Cursor& cursor, std::size_t bytes) noexcept {
  const std::size_t end = cursor.offset + bytes;
  cursor = {cursor.block + end / region.shape->element, end % region.shape->element};
}
void skip(const BlockList& region, Cursor& cursor, std::size_t bytes) noexcept {
  cursor.offset += bytes;
  while (cursor.block < region.count() && cursor.offset >= region.length(cursor.block))
    cursor = {cursor.block + 1, cursor.offset - region.length(cursor.block)};
}

// get: record, own block, own offset, bytes, kind, entries -> data: record, own block, own offset
constexpr unsigned get_args = 9;
constexpr unsigned data_args = 6;

template <class Region>
std::uint32_t get_region(const Route& route, const Region& peer, const Region& own,
                         std::size_t bytes, CompletionTarget target) noexcept {
  const std::size_t limit = am::max_medium(route.tm, route.rank);
  const std::size_t room = std::min(limit, most_description_bytes(peer));
  auto* pending = new (std::nothrow) PendingGet(own, target);
  if (pending == nullptr) fatal("no memory for the record of a non-contiguous get");
  Injection messages(route, Internal::vis_get, get_args);
  Cursor at_peer;
  Cursor here;
  std::uint32_t parts = 0;
  for (std::size_t left = bytes; left != 0; ++parts) {
    std::byte* out = messages.begin(room);
    if (out == nullptr) break;
    const Part part = describe(peer, at_peer, left, {room, limit, room + limit}, out);
    alignas(16) gex_AM_Arg_t args[12] = {};
    put_word(args, word_of(pending));
    put_word(args + 2, here.block);
    put_word(args + 4, here.offset);
    args[6] = static_cast<gex_AM_Arg_t>(part.data_bytes);
    args[7] = static_cast<gex_AM_Arg_t>(part.kind);
    args[8] = static_cast<gex_AM_Arg_t>(part.entries);
    // Relaxed: the part that this reference is for goes out behind it.
    pending->references.fetch_add(1, std::memory_order_relaxed);
    order_through_peer_begins(pending);
    if (!messages.send(part.description_bytes, args)) {
      pending->release();
      break;
    }
    skip(own, here, part.data_bytes);
    left -= part.data_bytes;
  }
  pending->release();
  return parts;
}

/// Reads the part that a message describes and ends the job if this process does not have it.
void read_own(Described& part, gex_Token_t token, std::uint32_t kind, std::uint32_t entries,
              std::byte* message, std::size_t size, std::size_t& description_bytes,
              const char* what) noexcept {
  if (!part.read(kind, entries, message, size, description_bytes))
    fatal("rank %u: %s is malformed", token->header.source, what);
}
void require_own(const Described& part, gex_Token_t token, std::size_t bytes,
                 const char* what) noexcept {
  const gex_EP_t endpoint = endpoint_at(token->header.endpoints().target_address());
  const auto in_segment = [endpoint](const std::byte* start, std::size_t size) noexcept {
    return endpoint != nullptr && endpoint->segment != nullptr &&
           endpoint->segment->contains(start, size);
  };
  if (!part.lies_within(bytes, in_segment))
    fatal("rank %u: %s of %zu bytes is not inside this process's bound segment",
          token->header.source, what, bytes);
}

void on_put(gex_Token_t token, void* payload, std::size_t size, const gex_AM_Arg_t* args,
            unsigned arg_count) noexcept {
  static constexpr const char* what = "a part of a non-contiguous put";
  auto* message = static_cast<std::byte*>(payload);
  ArrivedNotice notice{};
  if (arg_count == put_args_with_notice) {
    const auto handler_and_size = static_cast<std::uint32_t>(args[8]);
    notice = {get_word(args + 4), get_word(args + 6), static_cast<std::uint8_t>(handler_and_size),
              message, handler_and_size >> 8};
    const std::size_t taken = round_up_16(notice.size);
    if (taken > size) fatal("rank %u: %s is malformed", token->header.source, what);
    message += taken;
    size -= taken;
  }
  Described part;
  std::size_t description_bytes = 0;
  read_own(part, token, static_cast<std::uint32_t>(args[2]), static_cast<std::uint32_t>(args[3]),
           message, size, description_bytes, what);
  const std::size_t bytes = size - description_bytes;
  require_own(part, token, bytes, what);
  part.scatter(bytes, message + description_bytes);
  if (arg_count == put_args_with_notice) note_arrival(token, notice, bytes);

  alignas(16) const gex_AM_Arg_t reply_args[4] = {args[0], args[1], 0, 0};
  am::Outbound reply;
  reply.handler = static_cast<std::uint8_t>(Internal::rma_done);
  reply.arg_count = 2;
  reply.args = reply_args;
  am::send_reply(token, reply);
}

void on_get(gex_Token_t token, void* payload, std::size_t size, const gex_AM_Arg_t* args,
            unsigned) noexcept {
  static constexpr const char* what = "a part of a non-contiguous get";
  const std::size_t bytes = static_cast<std::uint32_t>(args[6]);
  Described part;
  std::size_t description_bytes = 0;
  read_own(part, token, static_cast<std::uint32_t>(args[7]), static_cast<std::uint32_t>(args[8]),
           static_cast<std::byte*>(payload), size, description_bytes, what);
  require_own(part, token, bytes, what);
  gex_AM_SrcDesc_t reply = am::prepare_reply(token, {.client_buffer = nullptr,
                                                     .least = bytes,
                                                     .most = bytes,
                                                     .destination = nullptr,
                                                     .is_long = false,
                                                     .flags = 0,
                                                     .arg_count = data_args});
  if (reply->size < bytes) fatal("rank %u: %s of %zu bytes", token->header.source, what, bytes);
  part.gather(bytes, static_cast<std::byte*>(reply->address));
  alignas(16) const gex_AM_Arg_t reply_args[8] = {args[0], args[1], args[2], args[3],
                                                  args[4], args[5], 0,       0};
  am::Outbound built;
  built.handler = static_cast<std::uint8_t>(Internal::vis_data);
  built.category = Category::medium;
  built.arg_count = data_args;
  built.args = reply_args;
  built.size = bytes;
  am::commit(reply, built, 0);
}

void on_data(gex_Token_t, void* payload, std::size_t size, const gex_AM_Arg_t* args,
             unsigned) noexcept {
  auto* pending = reinterpret_cast<PendingGet*>(get_word(args));
  order_through_peer_ends(pending);
  pending->unpack({get_word(args + 2), get_word(args + 4)}, size,
                  static_cast<const std::byte*>(payload));
  const CompletionTarget target = pending->target;
  pending->release();
  complete(target);
}

}  // namespace

std::uint32_t put_parts(const Route& route, const StridedRegion& peer, const StridedRegion& own,
                        std::size_t bytes, const PeerCompletion& notice,
                        CompletionTarget target) noexcept {
  return put_region(route, peer, own, bytes, notice, target);
}
std::uint32_t put_parts(const Route& route, const BlockList& peer, const BlockList& own,
                        std::size_t bytes, const PeerCompletion& notice,
                        CompletionTarget target) noexcept {
  return put_region(route, peer, own, bytes, notice, target);
}
std::uint32_t get_parts(const Route& route, const StridedRegion& peer, const StridedRegion& own,
                        std::size_t bytes, CompletionTarget target) noexcept {
  return get_region(route, peer, own, bytes, target);
}
std::uint32_t get_parts(const Route& route, const BlockList& peer, const BlockList& own,
                        std::size_t bytes, CompletionTarget target) noexcept {
  return get_region(route, peer, own, bytes, target);
}

void start_messages() {
  am::register_internal(Internal::vis_put, on_put, {.is_reply = false, .least_args = put_args});
  am::register_internal(Internal::vis_get, on_get, {.is_reply = false, .least_args = get_args});
  am::register_internal(Internal::vis_data, on_data, {.is_reply = true, .least_args = data_args});
}

}  // namespace gex::vis
