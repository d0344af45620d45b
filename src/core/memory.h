#pragma once
// Kinds of memory that segments are made of, and the ways by which the library's own code moves
// bytes in and out of them.
//
// A segment of another kind than the host's, a device's for example, is not for a processor's loads
// and stores, not even its owner's: `PublishedSegment::mapped` stays null, so that inlined puts,
// gets and atomic operations of clients, and every copy between neighbors, leave it to what
// follows. Where a kind of this process reaches the peer's memory, it copies by itself
// (rma/by_kind.h); else the network carries the bytes, where it has a key for the segment and
// reaches the local side; else messages do. The messages of puts and gets are filled and emptied by
// `begin_copy` (rma/staging_buffer.h), payloads of active messages by `copy_memory`; all other code
// touches only memory of the host.
//
// Which kind an address has is found without a lock: between the lowest and the highest address of
// all such segments in a sorted array. As long as there is none, every address is above the
// highest, which is a load and a branch that is always predicted.
//
// Thread rules: any. A kind is there before its first segment, and outlives the last.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/completion.h"

namespace gex {

/// Rows of a copy, or planes of such rows. Rows, and planes, of an end begin at most `max_stride`
/// apart: drivers copy no others.
struct Rows {
  static constexpr std::size_t max_stride = std::size_t{1} << 30;

  std::byte* to;
  std::size_t to_stride;
  const std::byte* from;
  std::size_t from_stride;
  std::size_t width;  ///< bytes
  std::size_t count;  ///< in each plane
  std::size_t planes = 1;
  std::size_t to_plane = 0;  ///< distances of planes, multiples of those of rows
  std::size_t from_plane = 0;
};

/// All of a segment of the host's memory, as it is mapped here.
struct HostRange {
  std::byte* begin;
  std::size_t bytes;
};

inline constexpr std::uint32_t gate_open = 1;

/// A memory kind: memory of one class on one device, and what copies it; the object behind a
/// gex_MK_t. A folder of kinds/ derives from it. Its functions may be called by any thread, in
/// handlers too.
///
/// A kind calls `want_polls` (core/progress.h) and `begin_unrung_work` (core/unrung_work.h) with
/// the first copy or event that is under way, and `unwant_polls` and `end_unrung_work` after the
/// last. Polls call pollers, which complete the copies, only in between: without the first a
/// blocking put never returns. Without the second, threads that wait sleep long, as if a bell rang
/// at the end.
class MemoryKind {
 public:
  net::MemoryClass memory_class;  ///< not the host's; its name: `class_name`, core/memory_class.h
  std::uint32_t device;           ///< as of the class's own interface

  constexpr MemoryKind(net::MemoryClass its_class, std::uint32_t its_device) noexcept
      : memory_class(its_class), device(its_device) {}
  MemoryKind(const MemoryKind&) = delete;
  MemoryKind& operator=(const MemoryKind&) = delete;

  /// Copies between memory of this class, of any of its devices, and such memory or the
  /// host's. The bytes are at their destination when this returns.
  virtual void copy(void* to, const void* from, std::size_t bytes) const noexcept = 0;

  /// Begins such a copy. Once it is done, in this call or in a poll, it completes one part of
  /// `done` and, unless that is null, of `local_done`.
  virtual void begin_copy(void* to, const void* from, std::size_t bytes, CompletionTarget done,
                          CompletionTarget local_done) const noexcept = 0;

  /// Allocates memory, or returns null with the reason in `why`.
  virtual void* allocate(std::size_t bytes, std::string& why) const = 0;
  virtual void release(void* memory, std::size_t bytes) const noexcept = 0;

  /// Why a client's memory cannot be a segment of this kind; nothing: it can.
  virtual std::optional<std::string> refuses(const void* address, std::size_t bytes) const = 0;

  // What a kind may do better, or have, than these defaults.

  /// Allocates memory of the host that copies of this class reach fastest, for the life of
  /// the process; null: there is none.
  virtual void* allocate_host(std::size_t bytes) const noexcept;

  /// Begins to copy rows, of which each end has one every so many bytes, at least `width`; planes
  /// do not overlap either.
  virtual void begin_copy_rows(const Rows& rows, CompletionTarget done,
                               CompletionTarget local_done) const noexcept;

  /// Memory of the host that is mapped here for longer: copies to and from these bytes of it may
  /// have it registered with the devices, until `MemoryClassInfo::unpin`.
  virtual void pin(const HostRange& range, const void* address, std::size_t bytes) const noexcept;

  /// Has polls complete one part of `happened` once a device's event, which the client has
  /// recorded, has happened. Returns why that cannot be had, or nothing.
  virtual std::string follow_event(void* event, CompletionTarget happened) const;

  /// Has later work of a stream of the client's wait until the caller writes `gate_open` to the
  /// word that this returns; null, with the reason in `why`: it cannot be made to.
  virtual std::atomic<std::uint32_t>* hold_stream(void* stream, std::string& why) const;

  /// Makes a dma-buf of such memory, by which networks register it, and the place of the memory in
  /// that; -1: there is none.
  virtual int export_descriptor(const void* address, std::size_t bytes,
                                std::uint64_t& offset) const noexcept;

 protected:
  ~MemoryKind() = default;
};

namespace detail {
/// From the lowest address of memory of other kinds to behind the highest; the end is 0 while there
/// is none. Relaxed: both are set before any address in such a segment is given to another thread.
extern constinit std::atomic<std::uintptr_t> kinds_begin;
extern constinit std::atomic<std::uintptr_t> kinds_end;
const MemoryKind* find_kind(const void* address) noexcept;
void copy_by_kind(void* to, const void* from, std::size_t bytes) noexcept;
void fill_by_kind(void* to, int value, std::size_t bytes) noexcept;
}  // namespace detail

/// Returns true if there may be segments of another kind than the host's.
inline bool has_other_kinds() noexcept {
  return detail::kinds_end.load(std::memory_order_relaxed) != 0;
}

/// The kind of the memory that `add_memory` was given and in which the address lies; null: memory
/// of the host.
inline const MemoryKind* kind_at(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at >= detail::kinds_end.load(std::memory_order_relaxed) ||
      at < detail::kinds_begin.load(std::memory_order_relaxed)) [[likely]]
    return nullptr;
  return detail::find_kind(address);
}

/// Copies bytes of which either end may lie in a segment of this process's, whatever its kind. They
/// do not overlap.
inline void copy_memory(void* to, const void* from, std::size_t bytes) noexcept {
  if (!has_other_kinds()) [[likely]]
    std::memcpy(to, from, bytes);
  else
    detail::copy_by_kind(to, from, bytes);
}

/// Bytes for the processor to read: where they lie, or a copy if that is memory of another kind.
class OnHost {
 public:
  OnHost(const void* from, std::size_t bytes) : bytes_(from) {
    if (bytes == 0 || kind_at(from) == nullptr) [[likely]]
      return;
    copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    copy_memory(copy_.get(), from, bytes);
    bytes_ = copy_.get();
  }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;

  const void* get() const noexcept { return bytes_; }

 private:
  const void* bytes_;
  std::unique_ptr<std::byte[]> copy_;
};

/// Fills bytes that may lie in a segment of this process's, whatever its kind.
inline void fill_memory(void* to, int value, std::size_t bytes) noexcept {
  if (!has_other_kinds()) [[likely]]
    std::memset(to, value, bytes);
  else
    detail::fill_by_kind(to, value, bytes);
}

/// Memory of that kind begins to exist here, or ends: a segment of this process's, or one of
/// another's that `MemorySharing::open` has opened. None overlaps another.
void add_memory(const void* address, std::size_t bytes, const MemoryKind& kind);
void remove_memory(const void* address) noexcept;

/// The classes, as bits by net::MemoryClass, of which this machine may have memory. Start-up only.
void expect_classes(std::uint64_t classes) noexcept;
std::uint64_t expected_classes() noexcept;

}  // namespace gex
