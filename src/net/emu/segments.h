#pragma once
// Memory of peers that one process's puts, gets and atomic operations reach.
//
// Segments that libgex allocates lie in memory files, one for each neighborhood, all of which every
// process of an emu network has open. A segment is registered by an entry of its owner's in the
// network's memory, with its range; its key names the entry. Each use of a key reads that, so that
// an operation on a segment that is no longer registered, or beyond its end, ends the job with one
// line instead of writing to what took its place. A process maps a peer's segment when it first
// uses the key, and until it uses another that has the same place. Memory that a client gave is in
// no such file and is refused.
//
// Any thread, once `open_all` has returned.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/os_file.h"
#include "base/os_mapping.h"
#include "net/emu/layout.h"

namespace gex::net::emu {

class Segments {
 public:
  /// `memory`: the network's, in which the registrations lie. Both outlive this object.
  Segments(const Host& host, const Layout& layout, std::span<std::byte> memory);
  ~Segments();
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  /// Collective over the job, inside `attach`. Without it, and where some process could not open
  /// every file, every segment is refused.
  void open_all();

  /// A segment's key.
  struct Key {
    std::uint64_t shift;  ///< from its owner's addresses to places in the owner's memory file
    std::uint64_t name;   ///< generation and place of its registration
  };

  /// As `Conduit::register_segment`, of host memory.
  int enter(void* address, std::size_t size, Key* key);
  void leave(const Key& key);

  /// Returns true if local memory is in a segment that this process has registered.
  bool is_own(const void* address, std::size_t size) const noexcept;

  /// Where `size` bytes of a peer's segment lie in this process.
  std::byte* find(const Remote& remote, std::size_t size) const;

 private:
  /// The memory of a neighborhood's segments.
  struct Part {
    os::FileDescriptor file;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  /// A segment of a peer's as it is mapped here.
  struct Window {
    std::uint64_t generation;  ///< of its registration
    std::uint64_t start, size;
    os::Mapping mapping;
    std::byte* base;  ///< where `start` lies
  };
  /// By place; null: not used yet. Changed under `mapping_`.
  using Windows = std::array<std::atomic<const Window*>, registrations_each>;
  /// This process has registered such a segment.
  struct OwnSegment {
    const std::byte* address;
    std::size_t size;
  };

  bool open_files();
  Registration& registration(std::uint32_t rank, std::uint32_t place) const noexcept;
  const Window& window(std::uint32_t rank, std::uint32_t place, std::uint64_t generation) const;
  const Window& map_window(std::uint32_t rank, std::uint32_t place, std::uint64_t generation) const;

  const Host& host_;
  Layout layout_;
  std::span<std::byte> memory_;
  std::vector<Part> parts_;             ///< by neighborhood; empty: everything is refused
  std::vector<std::uint32_t> part_of_;  ///< by rank
  mutable std::mutex mapping_;
  /// By rank; null: none is mapped. On the heap, where leak checkers look for what it points to.
  mutable std::unique_ptr<std::atomic<Windows*>[]> windows_;
  mutable std::mutex entering_;
  std::map<std::uint32_t, OwnSegment> own_;  ///< by place
  std::uint32_t next_generation_ = 1;
};

}  // namespace gex::net::emu
