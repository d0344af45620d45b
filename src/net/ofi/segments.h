#pragma once
// The segments of this rank that peers reach by one-sided operations. All lanes share them.
//
// Thread rules: as `Host::threaded` allows.

#include <gex/plugin/conduit.h>

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
  void* descriptor_of(const void* local, std::size_t size) const;

 private:
  struct Segment {
    std::byte* address;
    std::size_t size;
    Region region;
  };

  const Host& host_;
  Registrar& registrar_;
  mutable std::shared_mutex mutex_;
  std::vector<Segment> segments_;
};

}  // namespace gex::net::ofi
