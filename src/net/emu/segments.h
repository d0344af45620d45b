#pragma once
// Memory of peers that one process's puts, gets and atomic operations reach.
//
// Segments that libgex allocates lie in memory files, one for each neighborhood, all of which every
// process of an emu network maps. A segment is registered by a word of its owner's in the network's
// memory, which says that it is there, and from where to where; its key names the word. Each use of
// a key looks at it, so that an operation on a segment that is no longer registered, or beyond its
// end, ends the job with one line instead of writing to what took its place. Memory that a client
// gave is in no such file and is refused.
//
// Any thread, once `map_all` has returned.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/os_memory.h"
#include "net/conduit.h"
#include "net/emu/layout.h"

namespace gex::net::emu {

class Segments {
 public:
  /// `memory`: the network's, in which the registrations lie. Both outlive this object.
  Segments(const Host& host, const Layout& layout, std::span<std::byte> memory) noexcept;

  /// Collective over the job, inside `attach`. Without it, and where not everybody could map
  /// everything, every segment is refused.
  void map_all();

  /// As `Conduit::register_segment`.
  int enter(void* address, std::size_t size, SegmentKey* key);
  void leave(const SegmentKey& key);

  /// Whether local memory is in a part of memory that this process's segments are registered from.
  bool is_own(const void* address, std::size_t size) const noexcept;

  /// Where `size` bytes of a peer's segment lie in this process.
  std::byte* find(const Remote& remote, std::size_t size) const;

 private:
  struct Part {
    os::Mapping mapping;  ///< none of the own neighborhood, which is mapped already
    std::byte* base = nullptr;
    std::uint64_t size = 0;
  };

  bool map_files();
  Registration& registration(std::uint32_t rank, std::uint32_t place) const noexcept;

  const Host& host_;
  Layout layout_;
  std::span<std::byte> memory_;
  std::vector<Part> parts_;             ///< by neighborhood; empty: everything is refused
  std::vector<std::uint32_t> part_of_;  ///< by rank
  std::mutex entering_;
  std::uint32_t next_generation_ = 1;
};

}  // namespace gex::net::emu
