#pragma once
// Segments of other kinds of memory that other processes of a host open, so that their copies reach
// them.
//
// A process announces with such a segment what opens it (`ExportedMemory`). Some memory needs a
// descriptor besides, which goes from process to process: all members of the publication then first
// announce where they receive. Each class of memory has functions for this (core/memory_class.h);
// where something fails, the segment is reached by messages.
//
// Thread rules: one publication at a time in a process.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/memory.h"

struct _gex_Segment;

namespace gex {

/// The announcement of a process; read by the class that has written it.
struct ExportedMemory {
  std::uint64_t exported = 0;          ///< 0: others cannot open the segment
  std::uint64_t device = 0;            ///< of the segment, as its owner counts
  std::uint64_t needs_descriptor = 0;  ///< 1: it also takes a descriptor
  std::uint64_t details[14] = {};
};

/// A segment of another process's, opened.
struct OpenedMemory {
  std::byte* reached =
      nullptr;  ///< where copies of the kind reach its first byte; null: not opened
  const MemoryKind* by = nullptr;
  std::string way{};  ///< how it was opened: "ipc descriptor"
  std::string why{};  ///< why it was not
};

/// The functions of a class of memory, none of them null. `open` is called also where this process
/// has made no kind of the class, and `unpin` for all memory of the host.
struct MemorySharing {
  ExportedMemory (*export_segment)(const _gex_Segment& segment);
  /// Begins to receive descriptors in polls. Returns where; 0: nowhere, since this process has made
  /// no kind of this class.
  std::uint64_t (*begin_receiving)();
  /// Sends the descriptor of an exported segment of this process's to another of this host, which
  /// receives meanwhile.
  void (*send)(const ExportedMemory& own, std::uint64_t post);
  /// All have sent.
  void (*end_receiving)();
  /// Opens a segment of a process of this host that has sent what it needs, if it is exported.
  /// Where the copies of the class ask `kind_at` what they were given, this and `close` call
  /// `add_memory` and `remove_memory`; all other code asks it of this process's own memory alone.
  OpenedMemory (*open)(const ExportedMemory& exported, std::size_t bytes);
  void (*close)(const OpenedMemory& opened);
  /// Memory of the host that begins there is about to be no segment any more, or not mapped.
  void (*unpin)(const void* begin);
};

/// The functions of a class whose segments other processes do not open.
extern const MemorySharing no_sharing;

}  // namespace gex
