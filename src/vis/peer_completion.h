#pragma once
// Peer completion: a handler that runs at the peer when a put is complete there.
//
// A thread arms it for its next put (`PeerCompletion`). Where the put is a copy, a
// message after the copy carries the notice. Where it is made of messages, each carries the notice,
// and the peer runs the handler when all bytes of the put have arrived, in any order.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/team.h"
#include "core/thread.h"

namespace gex::vis {

inline constexpr std::size_t max_notice_payload = 127;

/// gex_VIS_SetPeerCompletionHandler has armed these for a thread's next non-contiguous put; handler
/// 0: nothing. In a slot of the thread's record.
struct PeerCompletion {
  gex_AM_Index_t handler = 0;
  const void* payload = nullptr;
  std::size_t size = 0;

  bool is_set() const noexcept { return handler != 0; }
};

/// Arms the calling thread; handler 0 disarms it.
void arm(gex_AM_Index_t handler, const void* payload, std::size_t size) noexcept;

/// Returns what the calling thread has armed, and disarms it.
PeerCompletion take_armed() noexcept;
bool is_armed() noexcept;

/// Sends the notice of a put that is complete at the peer. Waits for room.
void send_notice(const Target& peer, const PeerCompletion& notice) noexcept;

/// A number for a put whose notice travels with its parts; no other put of this process has it.
std::uint64_t next_put_number() noexcept;

/// A notice as it has come with a part of its put.
struct ArrivedNotice {
  std::uint64_t number;
  std::uint64_t total;
  std::uint8_t handler;
  const std::byte* payload;
  std::size_t size;
};
/// At the peer, in the handler of `token`: `bytes` of that put have been written. Runs the handler
/// if those were the last.
void note_arrival(gex_Token_t token, const ArrivedNotice& notice, std::size_t bytes) noexcept;

/// Start-up only.
void start_peer_completion();

}  // namespace gex::vis
