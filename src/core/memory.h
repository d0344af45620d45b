#pragma once
// Kinds of memory that segments are made of, and the one way by which the library's own code moves
// bytes in and out of them.
//
// A segment of another kind than the host's, a device's for example, is mapped by no process, not
// even by its owner: `PublishedSegment::mapped` stays null, so that inlined puts, gets and atomic
// operations of clients, and every copy between neighbors, leave it to messages, or to the network
// where that has a key for it. What such messages carry is copied by `copy_memory` alone, at both
// ends; all other code touches only memory of the host.
//
// As long as no segment is of another kind, `copy_memory` is memcpy behind a branch that is always
// predicted.
//
// Thread rules: any. A kind is there before its first segment, and outlives the last.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace gex {

/// Memory of one kind on one device.
struct MemoryKind {
  const char* name;      ///< for messages: "CUDA"
  net::MemoryKind kind;  ///< not the host's
  std::uint32_t device;  ///< as of the kind's own interface
  /// Copies between memory of this kind and memory of this kind or the host's.
  void (*copy)(void* to, const void* from, std::size_t bytes) noexcept;
};

namespace detail {
/// Relaxed: this is set before any address in such a segment is given to another thread.
extern constinit std::atomic<bool> has_other_kinds;
void copy_by_kind(void* to, const void* from, std::size_t bytes) noexcept;
void fill_by_kind(void* to, int value, std::size_t bytes) noexcept;
}  // namespace detail

/// Returns true if there may be segments of another kind than the host's.
inline bool has_other_kinds() noexcept {
  return detail::has_other_kinds.load(std::memory_order_relaxed);
}

/// Copies bytes of which either end may lie in a segment of this process's, whatever its kind. They
/// do not overlap.
inline void copy_memory(void* to, const void* from, std::size_t bytes) noexcept {
  if (!has_other_kinds()) [[likely]]
    std::memcpy(to, from, bytes);
  else
    detail::copy_by_kind(to, from, bytes);
}

/// Fills bytes that may lie in a segment of this process's, whatever its kind.
inline void fill_memory(void* to, int value, std::size_t bytes) noexcept {
  if (!has_other_kinds()) [[likely]]
    std::memset(to, value, bytes);
  else
    detail::fill_by_kind(to, value, bytes);
}

/// The kind of the segment of this process's in which the address lies; null: memory of the host.
const MemoryKind* kind_of_address(const void* address) noexcept;
inline const MemoryKind* kind_at(const void* address) noexcept {
  return has_other_kinds() ? kind_of_address(address) : nullptr;
}

/// A segment of that kind begins to exist, or ends.
void add_memory(const void* address, std::size_t bytes, const MemoryKind& kind);
void remove_memory(const void* address) noexcept;

/// Ends the job if the address lies in memory of another kind than the host's, which `call` cannot
/// work on: `what` names the memory for the message ("the source").
void require_host_memory(const void* address, const char* what, const char* call) noexcept;

}  // namespace gex
