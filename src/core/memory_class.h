#pragma once
// Classes of memory (net::MemoryClass), such as CUDA's: what the kinds of all devices of a class
// have in common.
//
// The room `kinds` registers its classes at start-up. All other code asks here for the names that
// users have for a class, for what opens its segments in other processes of a host, and for an
// address that lies in no segment.
//
// Thread rules: any after start-up.

#include <gex/plugin/conduit.h>

#include <span>
#include <string>

#include "core/memory.h"
#include "core/memory_sharing.h"

namespace gex {

/// No pointer is null.
struct MemoryClassInfo {
  net::MemoryClass memory_class;  ///< not the host's
  const char* name;               ///< in messages: "CUDA"
  const char* entry;              ///< in GEX_REQUIRE: "cuda"
  const MemorySharing* sharing;   ///< `no_sharing`: nothing of it is opened by other processes
  /// Describes the address if it lies in memory of a device of this class that a kind of this
  /// process's is of: "memory of CUDA device 0, of no segment"; else empty.
  std::string (*describe_unknown)(const void* address);
  /// Undoes `MemoryKind::pin` for memory of the host that begins there, pinned or not: it is about
  /// to be no segment any more, or not mapped. Of a class that pins nothing: does nothing.
  void (*unpin)(const void* begin);
};

/// Start-up only, before this process is known to the others. The class outlives all segments; no
/// other has its number.
void register_memory_class(const MemoryClassInfo& added) noexcept;

/// All registered classes, in the same order in all ranks.
std::span<const MemoryClassInfo* const> memory_classes() noexcept;

/// Ends the job if there is no such class.
const MemoryClassInfo& class_info(net::MemoryClass which) noexcept;

/// The name of the kind's class: "CUDA".
inline const char* class_name(const MemoryKind& kind) noexcept {
  return class_info(kind.memory_class).name;
}

/// Ends the job if the address lies in memory of another kind than the host's, which `call` cannot
/// work on: `what` names the memory for the message ("the source").
void require_host_memory(const void* address, const char* what, const char* call) noexcept;

/// Describes memory of devices that is of no segment, for messages about misuse. Empty: it is the
/// host's, or a segment's.
std::string describe_unknown_memory(const void* address);

/// Calls `MemoryClassInfo::unpin` of all classes.
void unpin_memory(const void* begin);

}  // namespace gex
