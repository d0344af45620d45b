#pragma once
// Stands for a network adapter with which memory is registered before it reads or writes it.
//
// Local memory stays registered in the cache that real networks have (net/registration_cache.h). As
// an adapter does, a registration holds on to the pages themselves, some of them: so each use can
// be checked, whether the memory is still the one that was registered. If it is not, the cache has
// missed that it was unmapped, and the job ends: with a real adapter its data would be wrong.
//
//   std::unique_ptr<Adapter> adapter = Adapter::start(host, 1 << 20);
//   Adapter::Use use = adapter->use(local, size);
//   ... transfer; use.piece null: the memory was registered for this transfer alone
//   if (use.piece != nullptr) adapter->release(*use.piece);
//
// Thread rules: one thread at a time.

#include <gex/plugin/conduit.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/os_file.h"
#include "net/kit/memory_monitor.h"
#include "net/kit/registration_cache.h"

namespace gex::net::emu {

/// Pages that are kept, whatever becomes of the addresses at which they are.
class KeptPages {
 public:
  /// Keeps evenly spaced ones of a range, at most as many as a pipe holds. Null: that cannot be
  /// done.
  static std::unique_ptr<KeptPages> of(const Range& pages) noexcept;

  /// Returns true if at these addresses there are still the pages that are kept, by what they hold,
  /// which must not change meanwhile. True as well of memory of which none is kept, and where the
  /// system has no means to look left.
  bool are_at(const void* address, std::size_t size) const noexcept;

 private:
  static constexpr std::size_t max_pieces = 16;

  KeptPages() = default;

  std::array<std::uintptr_t, max_pieces> addresses_{};
  std::size_t count_ = 0;
  os::FileDescriptor kept_;  ///< a pipe's end to read from: holds the pages
  os::FileDescriptor filled_;
};

class Adapter final : private MemoryRegistry {
 public:
  /// Keeps up to `bytes` registered. Null, after a warning: unmapping of memory cannot be monitored
  /// here.
  static std::unique_ptr<Adapter> start(const Host& host, std::size_t bytes);

  struct Use {
    RegistrationCache::Piece* piece;  ///< to be released, or null
    bool was_registered;              ///< before
  };
  Use use(const void* local, std::size_t size);
  void release(RegistrationCache::Piece& piece) { cache_.release(piece); }

 private:
  Adapter(const Host& host, std::unique_ptr<MemoryMonitor> monitor, std::size_t bytes);

  // Called by the cache.
  void* add(void* address, std::size_t size) noexcept override;
  void remove(void* handle) noexcept override;

  const Host& host_;
  std::uint64_t registered_ = 0;
  std::unique_ptr<MemoryMonitor> monitor_;
  RegistrationCache cache_;
};

}  // namespace gex::net::emu
