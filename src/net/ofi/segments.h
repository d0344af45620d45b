#pragma once
// The segments of this rank that peers reach by one-sided operations. All lanes share them.
//
// Thread rules: as `Host::threaded` allows.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "net/ofi/registration.h"

namespace gex::net::ofi {

class Segments {
 public:
  /// The provider's key, and where the addresses by which it names places begin.
  struct Key {
    std::uint64_t of_provider;
    std::uint64_t origin;
  };

  Segments(const Host& host, Registrar& registrar) : host_(host), registrar_(registrar) {}

  /// False after a warning: this memory is reached by messages.
  bool add(const SegmentMemory& memory, Key& key);
  void remove(const Key& key);

  /// The descriptor of local memory that lies in a segment; else null.
  void* descriptor_of(const void* local, std::size_t size, bool of_device = false) const;
  /// The descriptor of local memory that lies in a segment of a device's; else null.
  void* device_descriptor_of(const void* local, std::size_t size) const {
    // Relaxed: the segment was registered before its memory is used.
    return has_devices_.load(std::memory_order_relaxed) ? descriptor_of(local, size, true)
                                                        : nullptr;
  }

 private:
  struct Segment {
    std::byte* address;
    std::size_t size;
    bool is_device;
    Region region;
  };

  const Host& host_;
  Registrar& registrar_;
  mutable std::shared_mutex mutex_;
  std::vector<Segment> segments_;
  std::atomic<bool> has_devices_{false};  ///< there has been one of a device's
};

}  // namespace gex::net::ofi
