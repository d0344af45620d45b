#pragma once
// The segments of this rank that peers reach by one-sided operations.
//
// A segment's key carries UCX's packed remote key itself, and a number by which a peer recognises
// it: that one unpacks it once for each connection (remote_keys.h).
//
// Thread rules: as `Host::threaded` allows.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "net/ucx/context.h"

namespace gex::net::ucx {

/// In front of a packed remote key.
struct KeyHeader {
  std::uint64_t number;  ///< of the owner's segments, none twice
  std::uint64_t size;    ///< bytes of the packed key
};

class Segments {
 public:
  /// Bytes of the key of host memory; 0 after an error, or if it would be longer than libgex
  /// carries.
  static std::size_t key_bytes(const Context& context);

  Segments(const Host& host, const Context& context) : host_(host), context_(context) {}
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;
  ~Segments();

  /// Memory of devices is taken, too: of a rank whose UCX has such, and an adapter by which puts go
  /// that are not made of messages. Before the first segment.
  void take_devices() noexcept { takes_devices_ = true; }

  /// False after a warning: this memory is reached by messages. `key_bytes` as all ranks agreed.
  bool add(const SegmentMemory& memory, void* key, std::size_t key_bytes);
  void remove(const void* key);

  /// The type of local memory: of these bytes, all of one segment if they are a device's.
  ucs_memory_type_t type_of(const void* local) const noexcept;

  /// Returns true if these bytes lie in the segment of that number, which is the host's memory.
  bool holds(std::uint64_t number, std::uint64_t address, std::size_t size);

 private:
  const Host& host_;
  const Context& context_;
  bool takes_devices_ = false;
  std::atomic<bool> has_devices_{false};  ///< there has been a segment of one
  mutable std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  struct Registered {
    ucp_mem_h memory;
    std::uint64_t address;
    std::uint64_t size;
    ucs_memory_type_t type;
  };
  std::map<std::uint64_t, Registered> by_number_;
};

}  // namespace gex::net::ucx
