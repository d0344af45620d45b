#pragma once
// Payloads that a thread builds or takes itself: the descriptors of negotiated messages, and the
// buffers of messages to its own process. They lie in a slot of the thread's record.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/outbound.h"
#include "core/endpoint_address.h"
#include "core/thread.h"

namespace gex {
/// The bytes a thread builds a small negotiated payload in.
inline constexpr std::size_t small_payload_bytes = 256;
}  // namespace gex

/// A negotiated message between Prepare and Commit or Cancel: one request and one reply a thread.
struct _gex_AM_SrcDesc {
  enum class State : std::uint8_t {
    closed,
    open,
    express,  ///< open: a request whose payload is in `small_buffer`, for am/express.h
  };
  State state = State::closed;
  bool is_reply = false;
  bool is_long = false;
  bool has_client_buffer = false;  ///< `address` is the client's
  bool in_conduit_buffer = false;  ///< `address` is a buffer of the conduit's (begin_building)
  std::uint8_t arg_count = 0;
  gex::Endpoints endpoints{};
  gex_Flags_t flags = 0;              ///< given to Prepare
  std::uint32_t slab = gex::no_slab;  ///< `address` is this slab of ours; or no_slab
  gex::am::Route route{};
  gex_Token_t token = nullptr;  ///< of a reply
  void* destination = nullptr;
  void* address = nullptr;
  std::size_t size = 0;
  std::byte* large_buffer = nullptr;  ///< max_medium_payload bytes once needed, kept
  alignas(64) std::byte small_buffer[gex::small_payload_bytes];

  bool is_open() const noexcept { return state != State::closed; }
};

namespace gex::am {

struct ThreadMessages {
  _gex_AM_SrcDesc request;
  _gex_AM_SrcDesc reply;
  /// Payloads of messages to this process, a request's and a reply's; max_medium_payload bytes once
  /// needed, kept.
  std::byte* payloads_to_self[2] = {nullptr, nullptr};
};

using MessagesSlot = Slot<ThreadRecord, ThreadSlot::messages, ThreadMessages>;

/// Makes those of a thread that has none yet.
[[gnu::cold, gnu::noinline]] ThreadMessages& make_messages(ThreadRecord& thread) noexcept;

/// The calling thread's; made when they are first asked for.
inline ThreadMessages& messages_of(ThreadRecord& thread) noexcept {
  ThreadMessages* const kept = MessagesSlot::of(thread);
  return kept != nullptr ? *kept : make_messages(thread);
}
/// Returns true if the calling thread has prepared a request, or a reply, and not committed or
/// cancelled it.
bool has_prepared_request(const ThreadRecord& thread) noexcept;
bool has_prepared_reply(const ThreadRecord& thread) noexcept;

/// Start-up only.
void start_thread_messages() noexcept;

}  // namespace gex::am
