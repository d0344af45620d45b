#pragma once
// One contiguous put or get: its two sides, resolved. What moves the bytes is in rma.h, native.h
// and reference.h.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/memory.h"
#include "core/op.h"
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

  Op as(OpKind kind) const noexcept { return Op::with_peer(kind, number_of(call), jobrank, size); }
};

}  // namespace gex::rma
