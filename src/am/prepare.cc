#include "am/prepare.h"

#include <algorithm>
#include <new>
#include <optional>

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

/// The largest payload of such a message.
std::size_t limit_of(Route route, bool is_reply, const PrepareArguments& arguments) noexcept {
  if (!arguments.is_long) return max_medium(route);
  return max_long(route, is_reply,
                  arguments.client_buffer == nullptr ? GEX_FLAG_AM_PREPARE_LEAST_ALLOC : 0);
}

/// Finds the buffer of a message; none if it needs a slab and none is free.
std::optional<PayloadBuffer> choose_buffer(_gex_AM_SrcDesc& descriptor, bool is_reply, Route route,
                                           const PrepareArguments& arguments) noexcept {
  const std::size_t size = std::min(arguments.most_payload, limit_of(route, is_reply, arguments));
  if (arguments.client_buffer != nullptr)
    return PayloadBuffer{const_cast<void*>(arguments.client_buffer), size};
  if (!arguments.is_long && fits_small_buffer(arguments.arg_count, size))
    return PayloadBuffer{descriptor.small_buffer, size};
  if (Link* const link = route.link) {
    if (!arguments.is_long) {
      const shm::Direction direction = is_reply ? shm::replies : shm::requests;
      const std::uint32_t slab = link->slabs->acquire(direction, size, link->member);
      if (slab != no_slab) return PayloadBuffer{link->slabs->address(slab), size, slab};
      // Without a slab a reply is built in this process's memory, and kept there if it must be.
      if (!is_reply) return std::nullopt;
    }
  } else if (crosses_network(route)) {
    if (void* const buffer = begin_building(route.jobrank, is_reply, size))
      return PayloadBuffer{buffer, size, no_slab, /*in_conduit_buffer=*/true};
  }
  // A handler of this process reads it here, too.
  return PayloadBuffer{large_buffer(descriptor), size};
}

void close(_gex_AM_SrcDesc& descriptor) noexcept {
  descriptor.state = _gex_AM_SrcDesc::State::closed;
}

}  // namespace

gex_AM_SrcDesc_t prepare_request(Route route, Endpoints endpoints,
                                 const PrepareArguments& arguments) noexcept {
  _gex_AM_SrcDesc& descriptor = messages_of(this_thread()).request;
  if (descriptor.is_open())
    fatal("a second request is prepared before the first is committed or cancelled");
  std::optional<PayloadBuffer> buffer;
  const auto attempt = [&]() noexcept {
    buffer = choose_buffer(descriptor, /*is_reply=*/false, route, arguments);
    return buffer.has_value();
  };
  if (!attempt()) {
    if ((arguments.flags & GEX_FLAG_IMMEDIATE) != 0) return GEX_AM_SRCDESC_NO_OP;
    const Call call = arguments.is_long ? Call::prepare_request_long : Call::prepare_request_medium;
    wait_until(
        [&]() noexcept {
          return Op::with_peer(OpKind::message, number_of(call), route.jobrank, 0);
        },
        attempt, WaitCause::room);
  }
  open(descriptor, _gex_AM_SrcDesc::State::open, /*is_reply=*/false, route, endpoints, arguments,
       *buffer);
  return &descriptor;
}

gex_AM_SrcDesc_t prepare_reply(gex_Token_t token, const PrepareArguments& arguments) noexcept {
  _gex_AM_SrcDesc& descriptor = messages_of(this_thread()).reply;
  if (descriptor.is_open())
    fatal("a second reply is prepared before the first is committed or cancelled");
  const Route route = route_back(*token);
  const std::optional<PayloadBuffer> buffer =
      choose_buffer(descriptor, /*is_reply=*/true, route, arguments);
  open(descriptor, _gex_AM_SrcDesc::State::open, /*is_reply=*/true, route, endpoints_back(*token),
       arguments, *buffer);
  descriptor.token = token;
  return &descriptor;
}

int commit(gex_AM_SrcDesc_t descriptor, Outbound& message, gex_Flags_t flags) noexcept {
  complete_prepared(*descriptor, message);
  const OnHost payload(message.payload, message.size);
  message.payload = payload.get();
  message.slab = descriptor->slab;
  message.in_conduit_buffer = descriptor->in_conduit_buffer;
  message.payload_is_ours = !descriptor->has_client_buffer;
  if (descriptor->is_reply) {
    require_unanswered(*descriptor);
    close(*descriptor);
    send_reply(descriptor->token, descriptor->route, message);
    return 0;
  }
  // A message to this process cannot fail, and its handler finds no request prepared.
  if (is_to_self(descriptor->route.jobrank)) close(*descriptor);
  // Sending may poll, and a handler run by that poll may prepare a reply, but no request.
  if (send_request(descriptor->route, message, (flags & GEX_FLAG_IMMEDIATE) != 0) != 0) return 1;
  close(*descriptor);
  return 0;
}

void require_unanswered(const _gex_AM_SrcDesc& descriptor) noexcept {
  if (!descriptor.token->may_reply) [[unlikely]]
    fatal("a prepared reply is committed to a request that was replied to meanwhile");
}

void cancel(gex_AM_SrcDesc_t descriptor) noexcept {
  if (descriptor->slab != no_slab) descriptor->route.link->slabs->release(descriptor->slab);
  if (descriptor->in_conduit_buffer)
    end_building(descriptor->route.jobrank, descriptor->is_reply, descriptor->address);
  close(*descriptor);
}

}  // namespace gex::am
