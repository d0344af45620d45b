#pragma once
// Memory that stays registered with a network after the transfer it was registered for, because the
// next is likely to want it again.
//
// Pieces are whole pages and do not overlap. A transfer that touches some registers one that holds
// them and their neighbors too. When so much is registered that the next would be too much, those
// go first that were not used for longest. Memory that was unmapped is forgotten before it is
// looked for again, as the monitor tells; a piece in use stays registered until it is let go of,
// whatever becomes of it.
//
//   RegistrationCache cache(registry, *monitor, {.bytes = 1 << 30, .pieces = 1024});
//   RegistrationCache::Piece* piece = cache.hold(address, size);
//   ... transfer with piece->handle ...
//   cache.let_go(*piece);
//
// Thread rules: any.

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#include "net/memory_monitor.h"

namespace gex::net {

/// What registers memory with the network.
class MemoryRegistry {
 public:
  virtual ~MemoryRegistry() = default;
  /// Null: this memory cannot be registered, or no more.
  virtual void* add(void* address, std::size_t size) noexcept = 0;
  virtual void remove(void* handle) noexcept = 0;
};

class RegistrationCache {
 public:
  /// The most that is registered at a time, those in use beside it.
  struct Bounds {
    std::size_t bytes;
    std::size_t pieces;
  };

  struct Piece {
    Range pages;
    void* handle;         ///< the registry's
    std::uint32_t users;  ///< who holds it
    bool forgotten;       ///< not found any more; goes with its last user
    std::list<Piece>::iterator self;
  };

  struct Counts {
    std::uint64_t found = 0;
    std::uint64_t registered = 0;
    std::uint64_t evicted = 0;  ///< to make room
    std::uint64_t merged = 0;   ///< into a larger one
    std::uint64_t unmapped = 0;
  };

  RegistrationCache(MemoryRegistry& registry, MemoryMonitor& monitor, const Bounds& bounds);
  ~RegistrationCache();
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  /// A piece that holds these bytes, until it is let go of. Null: they are more than the bounds,
  /// or of memory that cannot be registered or watched.
  Piece* hold(const void* address, std::size_t size);
  void let_go(Piece& piece);

  Counts counts() const;

 private:
  using ByBegin = std::map<std::uintptr_t, Piece*>;

  void forget_unmapped();
  void forget(ByBegin::const_iterator at);
  /// The first piece that ends behind an address.
  ByBegin::const_iterator first_behind(std::uintptr_t address) const;
  Piece* find(const Range& bytes);
  Piece* add(const Range& pages);
  /// The pages, and those of pieces that touch them, if that is not too much.
  Range with_neighbors(const Range& pages) const;
  void absorb(const Range& pages);
  void make_room(std::size_t bytes);
  void drop(Piece& piece);

  MemoryRegistry& registry_;
  MemoryMonitor& monitor_;
  const Bounds bounds_;
  mutable std::mutex mutex_;  ///< of what follows
  std::list<Piece> pieces_;   ///< the last used first
  ByBegin by_begin_;          ///< those that are not forgotten
  std::size_t bytes_ = 0;     ///< of these
  Counts counts_;
};

}  // namespace gex::net
