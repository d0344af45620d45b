#pragma once
// Registering memory with a domain: for peers to reach, or because the provider wants local memory
// registered as well (FI_MR_LOCAL).

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/kit/memory_monitor.h"
#include "net/kit/registration_cache.h"
#include "net/ofi/endpoint.h"

namespace gex::net::ofi {

/// A registered piece of memory.
using Region = Fid<fid_mr>;

class Registrar final : private MemoryRegistry {
 public:
  /// `always`: registers local memory whether the provider needs it or not. `threaded`: the client
  /// has threads, so there may be one of ours.
  Registrar(const Endpoint& endpoint, bool always, bool threaded);

  /// Returns true if what an operation reads or writes here must be registered with this provider.
  static bool needs_local(const fi_info& info, bool always) noexcept;
  bool needs_local() const noexcept { return needs_local_; }
  /// Returns true if peers name places by address, and not by the distance from the region's start.
  bool by_address() const noexcept { return (mode_ & FI_MR_VIRT_ADDR) != 0; }

  /// Access to a segment by peers, and by this process, whose local memory it may be.
  static constexpr std::uint64_t segment_access =
      FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE | FI_SEND;

  /// Registers memory for `access` (FI_SEND, FI_REMOTE_WRITE, ...), if need be in place of what the
  /// cache keeps and no transfer uses. Null, and `error` has the reason, when that cannot be done;
  /// `lacks_room`: it may be done when what others hold has gone.
  Region add(void* address, std::size_t size, std::uint64_t access, std::string& error,
             bool* lacks_room = nullptr);

  /// Registers a segment of a device's for `segment_access`; null, and `error` has the reason.
  Region add_device(const SegmentMemory& memory, std::string& error);
  /// Returns true if the provider reaches memory of devices.
  bool reaches_devices() const noexcept { return (endpoint_.info().caps & FI_HMEM) != 0; }

  /// Local memory that is kept registered; null where none needs to be, or unmapped memory is
  /// not reported, which takes a thread.
  RegistrationCache* cache() noexcept { return cache_.get(); }

  /// Describes what is kept registered on a machine with this provider, or why nothing is, for
  /// people.
  static std::string describe_cache(const fi_info& info, bool always);

 private:
  // Called by the cache.
  void* add(void* address, std::size_t size) noexcept override;
  void remove(void* handle) noexcept override;

  /// The key under which memory is registered next, where the provider leaves that to us.
  std::uint64_t draw_key(std::uint64_t access) noexcept;
  /// 0, and `region`, or libfabric's error.
  int try_add(void* address, std::size_t size, std::uint64_t access, Region& region);
  int try_add_device(const SegmentMemory& memory, bool by_descriptor, Region& region);
  /// 0, and `region`, which is the endpoint's now if the provider has that; or libfabric's error.
  int enable(Region made, Region& region);

  const Endpoint& endpoint_;
  std::uint64_t mode_;
  bool needs_local_;
  bool secret_keys_;  ///< of what peers reach
  std::atomic<std::uint64_t> next_key_{1};
  std::unique_ptr<MemoryMonitor> monitor_;
  std::unique_ptr<RegistrationCache> cache_;
};

}  // namespace gex::net::ofi
