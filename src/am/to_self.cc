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

Arrived arrived(const Outbound& message) noexcept {
  return {{message.what, gex_proc_.jobrank, message.size_buffer()},
          message.args,
          nullptr,
          message.size,
          nullptr};
}

/// Copies a long message's payload to its destination, which it may overlap.
void place(const Outbound& message) noexcept {
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

void run(const Arrived& message, std::uint32_t number) noexcept {
  const HandlersRun scope;
  run_handler(message, number);
}

[[gnu::noinline]] void run_medium(const Outbound& message) noexcept {
  Arrived medium = arrived(message);
  if (message.payload_is_ours) {
    medium.payload = const_cast<void*>(message.payload);
    return run(medium, message.number);
  }
  alignas(16) std::byte few[small_payload_bytes];
  medium.payload = message.size <= sizeof few ? few : kept_buffer(message.what.is_reply());
  if (message.size != 0) std::memcpy(medium.payload, message.payload, message.size);
  run(medium, message.number);
}

/// Messages of the library's own that wait for their delivery.
struct OwnMessages {
  SpinLock lock;
  std::vector<std::unique_ptr<KeptOutbound>> list;
};
/// True if there are any; changes under the lock.
std::atomic<bool> any_own{false};
Immortal<OwnMessages> the_own_messages;
OwnMessages& own_messages() noexcept {
  return the_own_messages.get();
}

void leave_to_poll(const Outbound& message) noexcept {
  auto own = std::make_unique<KeptOutbound>(message);
  OwnMessages& all = own_messages();
  {
    const OptionalGuard guard(all.lock, true);
    all.list.push_back(std::move(own));
    any_own.store(true, std::memory_order_relaxed);
  }
  want_deliveries();
}

void deliver(const Outbound& message) noexcept {
  if (message.what.handler() < GEX_AM_INDEX_BASE) return leave_to_poll(message);
  switch (message.what.category()) {
    case Category::short_message:
      return run(arrived(message), message.number);
    case Category::medium:
      return run_medium(message);
    case Category::long_message: {
      if (message.size != 0) place(message);
      Arrived placed = arrived(message);
      placed.payload = message.destination;
      return run(placed, message.number);
    }
  }
}

[[gnu::cold]] void deliver_recorded(const Outbound& message) noexcept {
  static std::atomic<std::uint32_t> next{0};
  Outbound numbered = message;
  numbered.number = next.fetch_add(1, std::memory_order_relaxed);
  record_sent(gex_proc_.jobrank, message, numbered.number, trace::to_itself, ticks());
  deliver(numbered);
}

[[gnu::cold]] void run_without_function(MessageHeader header, const gex_AM_Arg_t* args,
                                        void* payload, std::size_t size) noexcept {
  run({header, args, payload, size, nullptr}, 0);
}

/// As `run`, of a client's message where calls are not observed: in few instructions, and in fewer
/// stores. A sender's stores are what keeps its messages to others waiting in the store buffer.
[[gnu::always_inline]] inline void call_handler(const Arrived& message) noexcept {
  const MessageHeader& header = message.header;
  const gex_EP_t endpoint = endpoint_at(header.endpoints().target_address());
  const gex_AM_Fn_t function =
      endpoint != nullptr ? endpoint->handlers[header.handler()].gex_fnptr : nullptr;
  if (function == nullptr) [[unlikely]]
    return run_without_function(header, message.args, message.payload, message.size);
  _gex_Token token;
  token.header = header;
  token.may_reply = !header.is_reply();
  token.endpoint = endpoint;
  token.ring = nullptr;
  const HandlersRun scope;
  detail::call(function, &token, message);
}

}  // namespace

void send_to_self(const Outbound& message) noexcept {
  if (traced()) [[unlikely]]
    return deliver_recorded(message);
  deliver(message);
}

void run_short_to_self(MessageWhat what, const gex_AM_Arg_t* args) noexcept {
  call_handler({{what, gex_proc_.jobrank, 0}, args, nullptr, 0, nullptr});
}

void run_built_to_self(MessageWhat what, const gex_AM_Arg_t* args, void* payload,
                       std::size_t size) noexcept {
  const std::uint32_t size_buffer =
      MessageHeader::make_size_buffer(static_cast<std::uint32_t>(size), no_slab);
  call_handler({{what, gex_proc_.jobrank, size_buffer}, args, payload, size, nullptr});
}

void run_medium_to_self(MessageWhat what, const gex_AM_Arg_t* args, const void* payload,
                        std::size_t size) noexcept {
  const MessageHeader header{
      what, gex_proc_.jobrank,
      MessageHeader::make_size_buffer(static_cast<std::uint32_t>(size), no_slab)};
  if (size > small_payload_bytes) {
    void* const kept = kept_buffer(header.is_reply());
    std::memcpy(kept, payload, size);
    return call_handler({header, args, kept, size, nullptr});
  }
  alignas(16) std::byte few[small_payload_bytes];
  copy_few(few, payload, size);
  call_handler({header, args, few, size, nullptr});
}

bool deliver_own() noexcept {
  OwnMessages& all = own_messages();
  if (!any_own.load(std::memory_order_relaxed)) return false;
  std::vector<std::unique_ptr<KeptOutbound>> mine;
  {
    const OptionalGuard guard(all.lock, true);
    mine.swap(all.list);
    any_own.store(false, std::memory_order_relaxed);
  }
  for (const std::unique_ptr<KeptOutbound>& own : mine) {
    unwant_deliveries();
    Arrived message = arrived(own->message);
    message.payload = own->payload.get();
    run_handler(message, own->message.number);
  }
  return !mine.empty();
}

}  // namespace gex::am
