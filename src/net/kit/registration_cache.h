#pragma once
// Memory that stays registered with a network after the transfer it was registered for, because the
// next is likely to want it again.
//
// Pieces are whole pages and do not overlap. A transfer that touches some registers one that holds
// them and their neighbors too. When the next would exceed the bounds, the least recently used are
// evicted. Memory that the monitor reports as unmapped is forgotten before it is looked for again;
// a piece in use stays registered until it is released, whatever becomes of its memory.
//
// Registering may take long. Only the caller that needs it waits for it: meanwhile the others find
// what is there, and null for memory of which a part is just being registered.
//
//   RegistrationCache cache(registry, *monitor, {.bytes = 1 << 30, .pieces = 1024});
//   RegistrationCache::Piece* piece = cache.hold(address, size);
//   ... transfer with piece->handle ...
//   cache.release(*piece);
//
// Thread rules: any.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#include "net/kit/memory_monitor.h"

namespace gex::net {

/// Registers memory with the network.
class MemoryRegistry {
 public:
  virtual ~MemoryRegistry() = default;
  /// Null: this memory cannot be registered, or no more. It may have the cache give up what it can
  /// do without (`RegistrationCache::give_up_one`).
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
    void* handle;         ///< the registry's; null while it is being registered
    std::uint32_t users;  ///< transfers that hold it
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

  /// A piece that holds these bytes, until it is released. Null: they are more than the bounds,
  /// or of memory that cannot be registered or watched, or is just being registered. Of a registry
  /// that refuses what is watched nothing is kept from then on.
  Piece* hold(const void* address, std::size_t size);
  void release(Piece& piece);

  /// Gives up the piece that was not used for longest; false: all are in use.
  bool give_up_one();

  Counts counts() const;

 private:
  using Pieces = std::list<Piece>;
  using ByBegin = std::map<std::uintptr_t, Piece*>;

  // All with the mutex held. What is no longer wanted goes to `gone`, to be removed from the
  // registry without it.

  /// The piece with these bytes, if it is still of the same memory.
  Piece* find_current(const Range& bytes, Pieces& gone);
  void forget_unmapped(Pieces& gone);
  void forget(ByBegin::const_iterator at, Pieces& gone);
  /// The first piece that ends behind an address.
  ByBegin::const_iterator first_behind(std::uintptr_t address) const;
  Piece* find(const Range& bytes) const;
  bool is_being_registered(const Range& pages) const;
  /// The pages, and those of pieces that touch them, if that is not too much.
  Range with_neighbors(const Range& pages) const;
  void absorb(const Range& pages, Pieces& gone);
  bool evict_one(Pieces& gone);
  bool make_room(std::size_t bytes, Pieces& gone);
  /// A piece of these pages that is yet to be registered, or has been meanwhile, held by the
  /// caller; null: no room.
  Piece* reserve(const Range& pages, Pieces& gone);

  // Without the mutex.

  /// A registered piece of these pages, held by the caller, or null.
  Piece* add(const Range& pages);
  void remove(Pieces& gone) noexcept;
  /// These pages cannot be registered: finds out whether that is because they are watched, which
  /// they are no longer.
  void learn_from_refusal(const Range& pages) noexcept;

  MemoryRegistry& registry_;
  MemoryMonitor& monitor_;
  const Bounds bounds_;
  std::atomic<bool> is_useless_{false};  ///< the registry refuses what is watched
  mutable std::mutex mutex_;             ///< of what follows
  Pieces pieces_;                        ///< the last used first
  ByBegin by_begin_;                     ///< those that are not forgotten
  std::size_t bytes_ = 0;                ///< of these
  Counts counts_;
};

}  // namespace gex::net
