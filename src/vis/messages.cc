#include "vis/messages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "am/internal.h"
#include "am/limits.h"
#include "am/prepare.h"
#include "am/token.h"
#include "base/error.h"
#include "base/round_up.h"
#include "base/tsan.h"
#include "core/objects.h"
#include "rma/messages.h"
#include "rma/staging.h"
#include "rma/staging_buffer.h"
#include "vis/by_kind.h"
#include "vis/description.h"
#include "vis/message_series.h"
#include "vis/peer_completion.h"
#include "vis/region_copy.h"

namespace gex::vis {

namespace {

using am::Packed;
using am::Wide;

constinit am::Internal put_message{"non-contiguous put"};
constinit am::Internal put_with_notice_message{"non-contiguous put with notice",
                                               am::Internal::runs_client_code};
constinit am::Internal get_message{"non-contiguous get"};
constinit am::Internal data_message{"data of a non-contiguous get"};

struct Put {
  Wide done;
  std::uint32_t layout;
  std::uint32_t entries;
};
struct PutWithNotice {
  Put put;
  Wide number;
  Wide total;
  std::uint32_t handler_and_size;
};
static_assert(am::arguments_of<PutWithNotice> <= MessageSeries::max_args);

/// The record of a get until its last reply: its own end, with a copy of the shape.
struct PendingGet {
  CompletionTarget done;
  const MemoryKind* kind;  ///< null: the host's
  /// One of the injector, and one for each pending part.
  std::atomic<std::uint32_t> references{1};
  std::byte* first = nullptr;  ///< of a shape; null: a list
  BlockList list{nullptr, 0};
  Shape shape;

  PendingGet(const StridedRegion& region, const MemoryKind* its_kind,
             CompletionTarget completed) noexcept
      : done(completed), kind(its_kind), first(region.first) {
    copy_shape(shape, *region.shape);
  }
  PendingGet(const BlockList& region, const MemoryKind* its_kind,
             CompletionTarget completed) noexcept
      : done(completed), kind(its_kind), list(region) {}

  void unpack(Cursor cursor, std::size_t bytes, const std::byte* from) const noexcept {
    if (first != nullptr)
      scatter(StridedRegion{&shape, local_end, first}, cursor, bytes, from);
    else
      scatter(list, cursor, bytes, from);
  }
  /// Begins that by copies of the kind; returns their number.
  std::uint32_t begin_unpack(Cursor cursor, std::size_t bytes, const std::byte* from,
                             CompletionTarget done) const noexcept {
    return first != nullptr ? begin_scatter(*kind, StridedRegion{&shape, local_end, first}, cursor,
                                            bytes, from, done)
                            : begin_scatter(*kind, list, cursor, bytes, from, done);
  }
  /// A part has arrived, and is where it belongs.
  void complete_part() noexcept {
    const CompletionTarget completed = done;
    release();
    complete(completed);
  }
  void release() noexcept {
    // Acquire and release: other holders' accesses to the record precede its destruction.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

struct Get {
  Wide pending;
  Wide local_block;
  Wide local_offset;
  std::uint32_t bytes;
  std::uint32_t layout;
  std::uint32_t entries;
};
struct Data {
  Wide pending;
  Wide local_block;
  Wide local_offset;
};

/// Reads the part that a message describes; ends the job if it is malformed.
void read_own(Described& part, gex_Token_t token, std::uint32_t layout, std::uint32_t entries,
              std::byte* message, std::size_t size, std::size_t& description_bytes,
              const char* what) noexcept {
  if (!part.read(layout, entries, message, size, description_bytes))
    fatal("rank %u: %s is malformed", token->header.source, what);
}
/// Ends the job if a part is not in this process's segment. Returns the kind of that segment's
/// memory; null: the host's.
const MemoryKind* require_own(const Described& part, gex_Token_t token, std::size_t bytes,
                              const char* what) noexcept {
  const gex_Segment_t segment = rma::segment_of_receiver(token);
  const auto in_segment = [segment](const std::byte* start, std::size_t size) noexcept {
    return segment != nullptr && segment->contains(start, size);
  };
  if (!part.lies_within(bytes, in_segment))
    fatal("rank %u: %s of %zu bytes is outside this process's bound segment", token->header.source,
          what, bytes);
  return bytes != 0 ? kind_at(segment->address) : nullptr;
}

/// Scatters the data of a payload to where it describes, and calls `on_written(token, bytes)`, in
/// this call or, if that is memory of a device, later.
template <class OnWritten>
void handle_put(gex_Token_t token, const Put& put, std::byte* payload, std::size_t size,
                OnWritten on_written, rma::Finisher finisher) noexcept {
  static constexpr const char* what = "a part of a non-contiguous put";
  Described part;
  std::size_t description_bytes = 0;
  read_own(part, token, put.layout, put.entries, payload, size, description_bytes, what);
  const std::size_t bytes = size - description_bytes;
  const MemoryKind* const kind = require_own(part, token, bytes, what);
  if (kind == nullptr) [[likely]] {
    part.scatter(bytes, payload + description_bytes);
    on_written(token, bytes);
    return;
  }
  auto buffer = rma::StagingBuffer::of(*kind, /*may_refuse=*/false);
  std::memcpy(buffer->bytes(), payload + description_bytes, bytes);
  buffer->expect(part.begin_scatter(*kind, bytes, buffer->bytes(), buffer->copied()));
  rma::finish_when_copied(
      std::move(buffer), token,
      [=](gex_Token_t later, const std::byte*) noexcept { on_written(later, bytes); }, finisher);
}

void on_put(gex_Token_t token, const Put& put, void* payload, std::size_t size) noexcept {
  handle_put(
      token, put, static_cast<std::byte*>(payload), size,
      [done = put.done](gex_Token_t later, std::size_t) noexcept { rma::reply_done(later, done); },
      rma::Finisher::any);
}

void on_put_with_notice(gex_Token_t token, const PutWithNotice& put, void* payload,
                        std::size_t size) noexcept {
  auto* const notice = static_cast<std::byte*>(payload);
  const std::size_t notice_size = put.handler_and_size >> 8;
  const std::size_t notice_bytes = round_up_16(notice_size);
  if (notice_bytes > size || notice_size > max_notice_payload)
    fatal("rank %u: a part of a non-contiguous put is malformed", token->header.source);
  std::array<std::byte, max_notice_payload> noted;
  std::memcpy(noted.data(), notice, notice_size);
  handle_put(
      token, put.put, notice + notice_bytes, size - notice_bytes,
      [=](gex_Token_t later, std::size_t bytes) noexcept {
        note_arrival(later,
                     {put.number, put.total, static_cast<std::uint8_t>(put.handler_and_size),
                      noted.data(), notice_size},
                     bytes);
        rma::reply_done(later, put.put.done);
      },
      rma::Finisher::client);
}

void on_get(gex_Token_t token, const Get& get, void* payload, std::size_t size) noexcept {
  static constexpr const char* what = "a part of a non-contiguous get";
  const std::size_t bytes = get.bytes;
  Described part;
  std::size_t description_bytes = 0;
  read_own(part, token, get.layout, get.entries, static_cast<std::byte*>(payload), size,
           description_bytes, what);
  const Packed packed(Data{get.pending, get.local_block, get.local_offset});
  const MemoryKind* const kind = require_own(part, token, bytes, what);
  if (kind != nullptr) [[unlikely]] {
    if (bytes > max_medium_payload)
      fatal("rank %u: %s of %zu bytes", token->header.source, what, bytes);
    auto buffer = rma::StagingBuffer::of(*kind, /*may_refuse=*/false);
    buffer->expect(part.begin_gather(*kind, bytes, buffer->bytes(), buffer->copied()));
    rma::finish_when_copied(std::move(buffer), token,
                            [=](gex_Token_t later, const std::byte* data) noexcept {
                              am::Outbound reply = packed.message_for(data_message);
                              reply.what.set_category(Category::medium);
                              reply.payload = data;
                              reply.size = bytes;
                              am::reply_to(later, reply);
                            });
    return;
  }
  gex_AM_SrcDesc_t prepared = am::prepare_reply(token, {.client_buffer = nullptr,
                                                        .most_payload = bytes,
                                                        .destination = nullptr,
                                                        .is_long = false,
                                                        .flags = 0,
                                                        .arg_count = am::arguments_of<Data>});
  if (prepared->size < bytes) fatal("rank %u: %s of %zu bytes", token->header.source, what, bytes);
  part.gather(bytes, static_cast<std::byte*>(prepared->address));
  am::Outbound reply = packed.message_for(data_message);
  reply.what.set_category(Category::medium);
  reply.size = bytes;
  am::commit(prepared, reply, 0);
}

void on_data(gex_Token_t token, const Data& data, void* payload, std::size_t size) noexcept {
  auto* pending = data.pending.as<PendingGet*>();
  order_through_peer_ends(pending);
  const Cursor at{data.local_block, data.local_offset};
  if (pending->kind == nullptr) [[likely]] {
    pending->unpack(at, size, static_cast<const std::byte*>(payload));
    pending->complete_part();
    return;
  }
  auto buffer = rma::StagingBuffer::of(*pending->kind, /*may_refuse=*/false);
  std::memcpy(buffer->bytes(), payload, size);
  buffer->expect(pending->begin_unpack(at, size, buffer->bytes(), buffer->copied()));
  rma::finish_when_copied(std::move(buffer), token, [=](gex_Token_t, const std::byte*) noexcept {
    pending->complete_part();
  });
}

}  // namespace

template <class Region>
Injected put_by_messages(const NoncontiguousTransfer& transfer, const Region& remote,
                         const Region& local, const PeerCompletion& notice,
                         const CompletionTargets& targets) noexcept {
  const MemoryKind* const kind = transfer.resolved.local_kind;
  const bool notifies = notice.is_set();
  const std::size_t notice_bytes = notifies ? round_up_16(notice.size) : 0;
  const std::uint64_t number = notifies ? next_put_number() : 0;
  const std::size_t limit = transfer.message_bytes - notice_bytes;
  const std::size_t max_description = max_description_bytes(remote);
  MessageSeries messages =
      notifies ? MessageSeries(transfer, put_with_notice_message, am::arguments_of<PutWithNotice>)
               : MessageSeries(transfer, put_message, am::arguments_of<Put>);
  Cursor at_remote;
  Cursor at_local;
  std::uint32_t parts = 0;
  for (std::size_t left = transfer.bytes; left != 0; ++parts) {
    // For what is left and its description, if one message holds both.
    const std::size_t room =
        max_description < limit ? std::min(limit - max_description, left) + max_description : limit;
    rma::StagingBuffer* const staged = kind != nullptr ? &messages.begin_staged(*kind) : nullptr;
    std::byte* out = staged != nullptr ? staged->bytes() : messages.begin(notice_bytes + room);
    if (out == nullptr) return not_injected;
    if (notice_bytes != 0) std::memcpy(out, notice.payload, notice.size);
    out += notice_bytes;
    const Part part = describe(remote, at_remote, left, {room, room, room}, out);
    out += part.description_bytes;
    if (staged != nullptr)
      staged->expect(begin_gather(*kind, local, at_local, part.data_bytes, out, staged->copied()));
    else
      gather(local, at_local, part.data_bytes, out);
    // The first arguments are those of a put without notice.
    const Packed packed(
        PutWithNotice{{Wide(targets.done), static_cast<std::uint32_t>(part.layout),
                       static_cast<std::uint32_t>(part.entries)},
                      number,
                      transfer.bytes,
                      static_cast<std::uint32_t>(notice.handler | notice.size << 8)});
    const std::size_t size = notice_bytes + part.description_bytes + part.data_bytes;
    if (staged != nullptr)
      messages.queue_staged(size, packed.args(), targets.local_done);
    else if (!messages.send(size, packed.args()))
      return not_injected;
    left -= part.data_bytes;
  }
  return {parts, /*completes_local_done=*/kind != nullptr};
}

template <class Region>
Injected get_by_messages(const NoncontiguousTransfer& transfer, const Region& remote,
                         const Region& local, CompletionTarget done) noexcept {
  const std::size_t limit = transfer.message_bytes;
  const std::size_t room = std::min(limit, max_description_bytes(remote));
  auto* pending = new (std::nothrow) PendingGet(local, transfer.resolved.local_kind, done);
  if (pending == nullptr) fatal("no memory for the record of a non-contiguous get");
  MessageSeries messages(transfer, get_message, am::arguments_of<Get>);
  Cursor at_remote;
  Cursor at_local;
  std::uint32_t parts = 0;
  for (std::size_t left = transfer.bytes; left != 0; ++parts) {
    std::byte* out = messages.begin(room);
    if (out == nullptr) break;
    const Part part = describe(remote, at_remote, left, {room, limit, room + limit}, out);
    const Packed packed(Get{
        Wide(pending), at_local.block, at_local.offset, static_cast<std::uint32_t>(part.data_bytes),
        static_cast<std::uint32_t>(part.layout), static_cast<std::uint32_t>(part.entries)});
    // Relaxed: the part that this reference is for is sent after it.
    pending->references.fetch_add(1, std::memory_order_relaxed);
    order_through_peer_begins(pending);
    if (!messages.send(part.description_bytes, packed.args())) {
      pending->release();
      break;
    }
    advance(local, at_local, part.data_bytes);
    left -= part.data_bytes;
  }
  pending->release();
  return {parts};
}

template Injected put_by_messages(const NoncontiguousTransfer&, const StridedRegion&,
                                  const StridedRegion&, const PeerCompletion&,
                                  const CompletionTargets&) noexcept;
template Injected put_by_messages(const NoncontiguousTransfer&, const BlockList&, const BlockList&,
                                  const PeerCompletion&, const CompletionTargets&) noexcept;
template Injected get_by_messages(const NoncontiguousTransfer&, const StridedRegion&,
                                  const StridedRegion&, CompletionTarget) noexcept;
template Injected get_by_messages(const NoncontiguousTransfer&, const BlockList&, const BlockList&,
                                  CompletionTarget) noexcept;

void start_messages() {
  am::register_request<on_put>(put_message);
  am::register_request<on_put_with_notice>(put_with_notice_message);
  am::register_request<on_get>(get_message);
  am::register_reply<on_data>(data_message);
}

}  // namespace gex::vis
