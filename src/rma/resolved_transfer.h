#pragma once
// One put or get: its two sides, resolved, and what carries it.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op.h"
#include "core/team.h"
#include "job/memory_way.h"
#include "observe/restricted.h"

namespace gex::rma {

/// The means that carries a transfer; rma/way.h chooses it. Those of a non-contiguous one are in
/// vis (vis/vis.h).
enum class Way : std::uint8_t {
  kind,      ///< copies of a kind of memory, which reach both sides (rma/by_kind.h)
  copy,      ///< this processor: the remote side is mapped here
  network,   ///< put and get of the network, which has a key for the segment (rma/native.h)
  messages,  ///< messages (rma/messages.h); a put from memory of a device: rma/staged_put.h
};

/// A transfer whose flags are resolved. A non-contiguous one is described by the ranges that it
/// touches (rma.h, resolve_ranges).
struct ResolvedTransfer {
  Call call;
  Target peer;
  void* local;
  std::uintptr_t remote;  ///< address in the owner
  std::size_t size;
  const MemoryKind* local_kind = nullptr;  ///< null: the local side is memory of the host
  Way way = Way::messages;
  std::byte* mapped = nullptr;  ///< the remote side here, or null
  const void* key = nullptr;    ///< the network's key of the peer's segment, or null
  /// Way::kind: the kind, and where its copies reach the remote side. Else null.
  const MemoryKind* kind = nullptr;
  std::byte* reached = nullptr;
  net::MemoryClass remote_class = net::host_memory;

  /// Returns true if the network itself may operate on the remote side.
  bool by_atomics() const noexcept { return key != nullptr && remote_class == net::host_memory; }

  MemoryWay memory_way() const noexcept {
    if (remote_class == net::host_memory && local_kind == nullptr) return MemoryWay::host;
    if (way == Way::kind) return MemoryWay::copies;
    return way == Way::network ? MemoryWay::network : MemoryWay::messages;
  }
  Op as(OpKind op) const noexcept { return as(op, size); }
  /// `bytes`: that move, of a non-contiguous transfer.
  Op as(OpKind op, std::size_t bytes) const noexcept {
    Op made = Op::with_peer(op, number_of(call), peer.jobrank, bytes);
    made.sequence = static_cast<std::uint32_t>(memory_way());
    return made;
  }
};

}  // namespace gex::rma
