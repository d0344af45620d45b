#pragma once
// The thread record: what the library keeps for each thread that calls it.
//
// Implicit operations are counted here, the descriptors of negotiated messages live here, and the
// record shows whether the thread is in handler context. It is found through one initial-exec
// thread-local pointer, until the very end of the thread: destructors of its keys, whichever was
// made first, find its operations. A record outlives its thread until its implicit operations have
// drained; then another thread takes it over.

#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"
#include "base/lifetime_lock.h"
#include "base/tsan.h"
#include "core/completion.h"
#include "job/rank_status.h"

namespace gex {

/// The one-word target of a completion; with `followed_tag` in its address, a record that has one
/// (core/followed.h).
using CompletionTarget = StdCompletion::Word*;
inline constexpr std::uintptr_t followed_tag = 1;

void complete_followed(CompletionTarget target, std::uint32_t parts) noexcept;

/// Completes `parts` parts. Any thread.
inline void complete(CompletionTarget target, std::uint32_t parts = 1) noexcept {
  order_through_peer_ends(target);
  if ((reinterpret_cast<std::uintptr_t>(target) & followed_tag) != 0) [[unlikely]]
    return complete_followed(target, parts);
  complete_parts<StdCompletion>(*target, parts);
}

using Counters = BasicCounters<StdCompletion>;

struct Event;

namespace trace {
struct ThreadTrace;
}

/// The bytes a thread builds a small negotiated payload in.
inline constexpr std::size_t small_payload_bytes = 256;

}  // namespace gex

/// A negotiated message between Prepare and Commit or Cancel: one request and one reply a thread.
struct _gex_AM_SrcDesc {
  bool open = false;
  bool is_reply = false;
  bool is_long = false;
  bool client_buffer = false;
  std::uint8_t arg_count = 0;
  gex_Flags_t flags = 0;    ///< given to Prepare
  bool in_conduit = false;  ///< `address` is a place of the network's (am/network.h)
  std::uint32_t slab = 0;
  gex_TM_t tm = nullptr;
  gex_Rank_t rank = 0;
  gex_Token_t token = nullptr;
  void* destination = nullptr;
  void* address = nullptr;
  std::size_t size = 0;
  std::byte* large_buffer = nullptr;  ///< max_medium_payload bytes once needed, kept
  alignas(64) std::byte small_buffer[gex::small_payload_bytes];
};

namespace gex {

/// gex_VIS_SetPeerCompletionHandler has armed these for the thread's next non-contiguous put;
/// handler 0: nothing.
struct PeerCompletion {
  gex_AM_Index_t handler = 0;
  const void* payload = nullptr;
  std::size_t size = 0;
};

struct alignas(cache_line) ThreadRecord {
  Counters implicit{};       ///< first, and its status behind it: job::ShownThread
  job::ThreadStatus status;  ///< what other processes see of it
  Event* region = nullptr;   ///< event of the open access region; shown too
  Event* free_events = nullptr;
  std::uint32_t free_event_count = 0;
  std::uint32_t number = 0;          ///< from 1
  std::uint32_t handler_depth = 0;   ///< handlers on this thread's stack
  std::uint32_t held_locks = 0;      ///< HSLs held; counted in checked mode only
  std::uint32_t operator_depth = 0;  ///< in a client's reduction operator; checked mode only
  bool interrupts_held = false;      ///< in a no-interrupt section; set in checked mode only
  LifetimeLock owner;                ///< taken by the record's thread
  ThreadRecord* next = nullptr;      ///< all records, for reuse
  std::uint64_t calls = 0;           ///< that the thread is in, the innermost last: see in_call.cc
  trace::ThreadTrace* trace = nullptr;  ///< its part of the trace, once it has recorded something
  _gex_AM_SrcDesc request_descriptor;
  _gex_AM_SrcDesc reply_descriptor;
  /// Payloads of messages to this process, a request's and a reply's; max_medium_payload bytes once
  /// needed, kept.
  std::byte* payloads_to_self[2] = {nullptr, nullptr};
  PeerCompletion peer_completion;
  std::uint32_t look = 0;           ///< the guardian's during which it has polled last
  std::uint64_t polled_at_ns = 0;   ///< its processor time then
  void* free_value_gets = nullptr;  ///< opaque here: a free list of legacy/value_get.cc
  /// Opaque here: by jobrank, the links by which the thread sends, and what else it has of its lane
  /// (am/links.h). They stay with the record when another thread takes it over.
  void* const* links = nullptr;
  void* lane = nullptr;

  /// Where implicit operations are counted now, and where the last of a category is shown.
  inline Counters& implicit_counters() noexcept;
  inline job::OpRecord& implicit_op(Category_index category) noexcept;
};

extern constinit thread_local ThreadRecord* current_thread_record
    __attribute__((tls_model("initial-exec")));

/// Makes (or takes over) a record for the calling thread.
ThreadRecord& enter_thread() noexcept;

/// The number of the progress thread, which no thread of the client has.
inline constexpr std::uint32_t progress_thread_number = 0xffff;

/// Makes the record of the calling thread, which is the progress thread. It is not counted among
/// the client's, and not shown to other processes: a rank whose threads all wait may be stuck
/// although this one waits for nothing.
ThreadRecord& enter_progress_thread() noexcept;

/// Passes the calling thread's number to the conduit, if that has lanes.
void enter_lane(const ThreadRecord& thread) noexcept;

/// The calling thread's record.
inline ThreadRecord& this_thread() noexcept {
  ThreadRecord* record = current_thread_record;
  if (record == nullptr) [[unlikely]]
    return enter_thread();
  return *record;
}

/// Maximum number of client threads at once, which gex_System_QueryMaxThreads returns.
std::uint64_t max_threads() noexcept;

}  // namespace gex
