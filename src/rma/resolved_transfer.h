#pragma once
// One contiguous put or get: its two sides, resolved, and how the peer's is reached. rma.h lists
// who may carry it.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op.h"
#include "job/memory_way.h"
#include "observe/restricted.h"

namespace gex::rma {

/// A transfer whose flags are resolved.
struct ResolvedTransfer {
  Call call;
  gex_EP_t local_endpoint;
  gex_Rank_t jobrank;
  gex_EP_Index_t endpoint;
  void* local;
  std::uintptr_t remote;  ///< address in the owner
  std::byte* mapped;      ///< the same byte here, or null
  std::size_t size;
  const void* key = nullptr;  ///< the network's key of the peer's segment, or null
  /// Where copies of `kind` reach the remote side, if one side is memory of another kind than the
  /// host's and a kind of this process's reaches both; else null (rma/by_kind.h).
  std::byte* reached = nullptr;
  const MemoryKind* kind = nullptr;
  bool native = false;      ///< the network itself carries it; then there is a key
  bool by_atomics = false;  ///< the network itself may operate on it; then there is a key

  net::MemoryClass remote_class = net::host_memory;

  MemoryWay way() const noexcept {
    if (remote_class == net::host_memory && kind_at(local) == nullptr) return MemoryWay::host;
    if (kind != nullptr) return MemoryWay::copies;
    return native ? MemoryWay::network : MemoryWay::messages;
  }
  Op as(OpKind op) const noexcept {
    Op made = Op::with_peer(op, number_of(call), jobrank, size);
    made.sequence = static_cast<std::uint32_t>(way());
    return made;
  }
};

}  // namespace gex::rma
