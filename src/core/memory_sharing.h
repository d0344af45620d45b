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

/// The part of a segment's announcement by which it is opened. team/attach.cc reads
/// `needs_descriptor` alone; `exported` and `details` are for the class's own `send` and `open`.
struct ExportedMemory {
  std::uint64_t exported = 0;          ///< 0: others cannot open the segment
  std::uint64_t needs_descriptor = 0;  ///< 1: it also takes a descriptor
  std::uint64_t details[14] = {};      ///< in a layout of the class's own
};

/// A segment of another process's, opened.
struct OpenedMemory {
  std::byte* reached =
      nullptr;  ///< where copies of the kind reach its first byte; null: not opened
  const MemoryKind* by = nullptr;
  /// How it was opened: "ipc descriptor". GEX_REQUIRE names its words: the first is "ipc", and none
  /// is "native" or "messages", which team/attach.cc uses for segments that are not opened.
  std::string way{};
  std::string why{};  ///< why it was not
};

/// The functions of a class of memory, none of them null. `open` is called also where this process
/// has made no kind of the class.
struct MemorySharing {
  ExportedMemory (*export_segment)(const _gex_Segment& segment);
  /// Begins to receive descriptors in polls, for which it calls `want_polls` (core/progress.h).
  /// Returns where. 0: it receives nothing, since this process has made no kind of this class or
  /// has no post; `end_receiving` follows all the same, and must not call `unwant_polls` then.
  std::uint64_t (*begin_receiving)();
  /// Sends the descriptor of an exported segment of this process's to another of this host, which
  /// receives meanwhile.
  void (*send)(const ExportedMemory& own, std::uint64_t post);
  /// All have sent; calls `unwant_polls`.
  void (*end_receiving)();
  /// Opens a segment of a process of this host that has sent what it needs, if it is exported; else
  /// returns why not.
  /// Where the copies of the class ask `kind_at` what they were given, this and `close` call
  /// `add_memory` and `remove_memory`; all other code asks it of this process's own memory alone.
  OpenedMemory (*open)(const ExportedMemory& exported, std::size_t bytes);
  void (*close)(const OpenedMemory& opened);
};

/// The functions of a class whose segments other processes do not open.
extern const MemorySharing no_sharing;

}  // namespace gex
