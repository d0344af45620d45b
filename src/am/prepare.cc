#include "am/prepare.h"

#include <algorithm>
#include <new>

#include "am/cell_layout.h"
#include "am/limits.h"
#include "am/links.h"
#include "am/network.h"
#include "am/to_self.h"
#include "am/token.h"
#include "base/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/team.h"
#include "core/thread.h"
#include "observe/restricted.h"

namespace gex::am {

namespace {

std::byte* large_buffer(_gex_AM_SrcDesc& descriptor) noexcept {
  if (descriptor.large_buffer == nullptr) {
    descriptor.large_buffer = static_cast<std::byte*>(
        ::operator new (max_medium_payload, std::align_val_t{64}, std::nothrow));
    if (descriptor.large_buffer == nullptr)
      fatal("no memory for a payload of %u bytes", unsigned{max_medium_payload});
  }
  return descriptor.large_buffer;
}

/// The link for the message to a member of the neighborhood; null: it goes over the network.
Link* link_of(const _gex_AM_SrcDesc& descriptor, gex_Rank_t jobrank) noexcept {
  return descriptor.is_reply ? reply_link(*descriptor.token) : links().to(jobrank);
}

gex_Rank_t jobrank_of(const _gex_AM_SrcDesc& descriptor) noexcept {
  return descriptor.is_reply ? descriptor.token->header.source
                             : resolve(descriptor.tm, descriptor.rank).jobrank;
}

/// Finds the buffer; false if a slab is needed and none is free.
bool choose_buffer(_gex_AM_SrcDesc& descriptor, const PrepareArguments& arguments,
                   gex_Rank_t jobrank, bool slab_required) noexcept {
  const std::size_t limit =
      arguments.is_long ? max_long(jobrank, descriptor.is_reply, 0) : max_medium(jobrank);
  descriptor.slab = no_slab;
  descriptor.in_conduit = false;
  descriptor.client_buffer = arguments.client_buffer != nullptr;
  if (descriptor.client_buffer) {
    descriptor.address = const_cast<void*>(arguments.client_buffer);
    descriptor.size = std::min(arguments.most_payload, limit);
    return true;
  }
  const std::size_t size =
      std::min({arguments.most_payload, limit, static_cast<std::size_t>(max_medium_payload)});
  descriptor.size = size;
  if (!arguments.is_long && place_of(arguments.arg_count, size) != Place::slab &&
      size <= small_payload_bytes) {
    descriptor.address = descriptor.small_buffer;
    return true;
  }
  // This process's handler reads the payload where it was built.
  if (is_to_self(jobrank)) {
    descriptor.address = large_buffer(descriptor);
    return true;
  }
  Link* const link = link_of(descriptor, jobrank);
  if (link == nullptr) {
    if (void* const place = begin_building(jobrank, descriptor.is_reply, size)) {
      descriptor.address = place;
      descriptor.in_conduit = true;
      return true;
    }
  } else if (!arguments.is_long) {
    const shm::Direction direction = descriptor.is_reply ? shm::replies : shm::requests;
    descriptor.slab = link->slabs->acquire(direction, size, link->member);
    if (descriptor.slab != no_slab) {
      descriptor.address = link->slabs->address(descriptor.slab);
      return true;
    }
    if (slab_required) return false;
  }
  descriptor.address = large_buffer(descriptor);
  return true;
}

void give_up_place(_gex_AM_SrcDesc& descriptor) noexcept {
  end_building(jobrank_of(descriptor), descriptor.is_reply, descriptor.address);
  descriptor.in_conduit = false;
}

void open(_gex_AM_SrcDesc& descriptor, const PrepareArguments& arguments) noexcept {
  descriptor.open = true;
  descriptor.is_long = arguments.is_long;
  descriptor.arg_count = static_cast<std::uint8_t>(arguments.arg_count);
  descriptor.destination = arguments.destination;
  descriptor.flags = arguments.flags;
}

}  // namespace

gex_AM_SrcDesc_t prepare_request(gex_TM_t tm, gex_Rank_t rank,
                                 const PrepareArguments& arguments) noexcept {
  _gex_AM_SrcDesc& descriptor = messages_of(this_thread()).request;
  if (descriptor.open)
    fatal("a second request is prepared before the first is committed or cancelled");
  const gex_Rank_t jobrank = resolve(tm, rank).jobrank;
  descriptor.is_reply = false;
  descriptor.tm = tm;
  descriptor.rank = rank;
  descriptor.token = nullptr;
  const auto attempt = [&]() noexcept {
    return choose_buffer(descriptor, arguments, jobrank, true);
  };
  if (!attempt()) {
    if ((arguments.flags & GEX_FLAG_IMMEDIATE) != 0) return GEX_AM_SRCDESC_NO_OP;
    const Call call = arguments.is_long ? Call::prepare_request_long : Call::prepare_request_medium;
    wait_until(
        [&]() noexcept { return Op::with_peer(OpKind::message, number_of(call), jobrank, 0); },
        [&]() noexcept { return attempt(); }, WaitCause::room);
  }
  open(descriptor, arguments);
  return &descriptor;
}

gex_AM_SrcDesc_t prepare_reply(gex_Token_t token, const PrepareArguments& arguments) noexcept {
  _gex_AM_SrcDesc& descriptor = messages_of(this_thread()).reply;
  if (descriptor.open)
    fatal("a second reply is prepared before the first is committed or cancelled");
  descriptor.is_reply = true;
  descriptor.token = token;
  // Without a free slab the reply is built in this process's memory and kept there if it must be.
  choose_buffer(descriptor, arguments, token->header.source, false);
  open(descriptor, arguments);
  return &descriptor;
}

int commit(gex_AM_SrcDesc_t descriptor, Outbound& message, gex_Flags_t flags) noexcept {
  const OnHost payload(descriptor->address, message.size);
  message.payload = payload.get();
  message.slab = descriptor->slab;
  message.built = descriptor->in_conduit;
  message.payload_is_ours = !descriptor->client_buffer;
  if (descriptor->is_reply) {
    require_unanswered(*descriptor);
    descriptor->open = false;
    send_reply(descriptor->token, message);
    return 0;
  }
  const Target target = resolve(descriptor->tm, descriptor->rank);
  message.what.set_endpoints(endpoints_of(target.local_endpoint, target.endpoint));
  // A message to this process cannot fail, and its handler finds no request prepared.
  if (is_to_self(target.jobrank)) descriptor->open = false;
  // Sending may poll, and a handler run by that poll may prepare a reply, but no request.
  if (send_request(target.jobrank, message, (flags & GEX_FLAG_IMMEDIATE) != 0) != 0) return 1;
  descriptor->open = false;
  return 0;
}

void require_unanswered(const _gex_AM_SrcDesc& descriptor) noexcept {
  if (!descriptor.token->may_reply) [[unlikely]]
    fatal("a prepared reply is committed to a request that was replied to meanwhile");
}

void cancel(gex_AM_SrcDesc_t descriptor) noexcept {
  if (descriptor->slab != no_slab)
    link_of(*descriptor, jobrank_of(*descriptor))->slabs->release(descriptor->slab);
  if (descriptor->in_conduit) give_up_place(*descriptor);
  descriptor->open = false;
}

}  // namespace gex::am
