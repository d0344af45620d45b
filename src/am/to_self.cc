#include "am/to_self.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "am/copy.h"
#include "am/deliver.h"
#include "am/kept_outbound.h"
#include "am/observed.h"
#include "am/thread_messages.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/memory.h"
#include "core/progress.h"
#include "observe/trace.h"

namespace gex::am {

namespace {

Arrived arrived(const Outbound& message, void* payload) noexcept {
  return {{message.what, gex_proc_.jobrank, message.size_and_slab()},
          message.args,
          payload,
          message.size,
          nullptr};
}

/// Copies a long message's payload to its destination, which it may overlap.
void copy_to_destination(const Outbound& message) noexcept {
  const gex_EP_t endpoint = endpoint_at(message.what.endpoints().target_address());
  if (endpoint == nullptr || endpoint->segment == nullptr ||
      !endpoint->segment->contains(message.destination, message.size)) [[unlikely]]
    fatal(
        "a long message of %zu bytes to %p does not lie in the bound segment of rank %u, which "
        "is its sender",
        message.size, message.destination, gex_proc_.jobrank);
  if (kind_at(message.destination) != nullptr) [[unlikely]]
    copy_memory(message.destination, message.payload, message.size);
  else
    std::memmove(message.destination, message.payload, message.size);
}

/// Where a thread keeps what a handler reads of a payload that does not fit on its stack.
std::byte* kept_buffer(bool reply) noexcept {
  std::byte*& buffer = messages_of(this_thread()).payloads_to_self[reply ? 1 : 0];
  if (buffer == nullptr) {
    buffer = static_cast<std::byte*>(
        ::operator new (max_medium_payload, std::align_val_t{cache_line}, std::nothrow));
    if (buffer == nullptr)
      fatal("no memory for a payload of %u bytes", unsigned{max_medium_payload});
  }
  return buffer;
}

[[gnu::noinline, gnu::cold]] void run_otherwise(const Arrived& message,
                                                std::uint32_t number) noexcept {
  const HandlersRun scope;
  run_handler(message, number);
}

/// Runs a client's handler: where it is there and calls are not observed, in few instructions, and
/// in few stores. A sender's stores are what keeps its messages to others waiting in the store
/// buffer.
[[gnu::always_inline]] inline void run(const Arrived& message, std::uint32_t number) noexcept {
  const MessageHeader& header = message.header;
  const gex_EP_t endpoint = endpoint_at(header.endpoints().target_address());
  const gex_AM_Fn_t function =
      endpoint != nullptr ? endpoint->handlers[header.handler()].gex_fnptr : nullptr;
  if (observed() || function == nullptr) [[unlikely]] {
    // Only a copy has an address, so that the message itself need not lie in memory.
    const Arrived copy = message;
    return run_otherwise(copy, number);
  }
  _gex_Token token;
  token.header = header;
  token.may_reply = !header.is_reply();
  token.endpoint = endpoint;
  token.ring = nullptr;
  const HandlersRun scope;
  detail::call(function, &token, message);
}

/// The payload of a medium as its handler may have it: a copy, unless it is ours. `few`: room for a
/// small one.
[[gnu::always_inline]] inline void* handler_payload(
    const Outbound& message, std::byte (&few)[small_payload_bytes]) noexcept {
  if (message.payload_is_ours) return const_cast<void*>(message.payload);
  if (message.size <= sizeof few) {
    copy_few(few, message.payload, message.size);
    return few;
  }
  void* const kept = kept_buffer(message.what.is_reply());
  std::memcpy(kept, message.payload, message.size);
  return kept;
}
/// In a function of its own: short ones take no room for the copy.
[[gnu::noinline]] void run_medium(const Outbound& message) noexcept {
  alignas(16) std::byte few[small_payload_bytes];
  run(arrived(message, handler_payload(message, few)), message.number);
}

[[gnu::noinline]] void run_long(const Outbound& message) noexcept {
  if (message.size != 0) copy_to_destination(message);
  run(arrived(message, message.destination), message.number);
}

/// Messages of the library's own that wait for their delivery.
struct InternalMessages {
  SpinLock lock;
  std::vector<std::unique_ptr<KeptOutbound>> list;
};
/// True if there are any; changes under the lock.
std::atomic<bool> any_internal{false};
Immortal<InternalMessages> the_internal_messages;
InternalMessages& internal_messages() noexcept {
  return the_internal_messages.get();
}

void leave_to_poll(const Outbound& message) noexcept {
  auto kept = std::make_unique<KeptOutbound>(message);
  InternalMessages& all = internal_messages();
  {
    const OptionalGuard guard(all.lock, true);
    all.list.push_back(std::move(kept));
    any_internal.store(true, std::memory_order_relaxed);
  }
  want_deliveries();
}

[[gnu::always_inline]] inline void deliver(const Outbound& message) noexcept {
  if (message.what.handler() < GEX_AM_INDEX_BASE) [[unlikely]]
    return leave_to_poll(message);
  switch (message.what.category()) {
    case Category::short_message:
      return run({{message.what, gex_proc_.jobrank, 0}, message.args, nullptr, 0, nullptr},
                 message.number);
    case Category::medium:
      return run_medium(message);
    case Category::long_message:
      return run_long(message);
  }
}

[[gnu::cold]] void deliver_recorded(const Outbound& message) noexcept {
  static std::atomic<std::uint32_t> next{0};
  Outbound numbered = message;
  numbered.number = next.fetch_add(1, std::memory_order_relaxed);
  record_sent(gex_proc_.jobrank, message, numbered.number, trace::to_itself, ticks());
  deliver(numbered);
}

}  // namespace

void send_to_self(const Outbound& message) noexcept {
  if (traced()) [[unlikely]]
    return deliver_recorded(message);
  deliver(message);
}

bool deliver_internal_to_self() noexcept {
  InternalMessages& all = internal_messages();
  if (!any_internal.load(std::memory_order_relaxed)) return false;
  std::vector<std::unique_ptr<KeptOutbound>> taken;
  {
    const OptionalGuard guard(all.lock, true);
    taken.swap(all.list);
    any_internal.store(false, std::memory_order_relaxed);
  }
  for (const std::unique_ptr<KeptOutbound>& kept : taken) {
    unwant_deliveries();
    run_handler(arrived(kept->message, kept->payload.get()), kept->message.number);
  }
  return !taken.empty();
}

}  // namespace gex::am
