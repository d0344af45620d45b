#pragma once
// Registered memory of a domain: what peers reach by keys, and what operations of one's own need
// descriptors for.
//
// Thread rules: with the domain's mutex held.

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace gexsim {

class Domain;

class Region : public fid_mr {
 public:
  Region(Domain& domain, std::byte* start, std::size_t size, std::uint64_t access, void* context);

  Domain& domain() const { return domain_; }
  std::byte* start() const { return start_; }
  std::size_t size() const { return size_; }
  std::uint64_t access() const { return access_; }

  bool of_device = false;          ///< the processor reaches it where the device's driver has it
  const void* endpoint = nullptr;  ///< to which it is bound, or null
  bool enabled = false;
  /// The bytes as they were, where the region keeps pages that the memory no longer has.
  std::vector<std::byte> stale_pages;

 private:
  Domain& domain_;
  std::byte* start_;
  std::size_t size_;
  std::uint64_t access_;
};

class Regions {
 public:
  explicit Regions(std::uint64_t mode) : mode_(mode) {}

  bool needs_local() const { return (mode_ & FI_MR_LOCAL) != 0; }
  bool has_basic_mode() const { return mode_ == 1; }
  bool needs_endpoint() const { return (mode_ & FI_MR_ENDPOINT) != 0; }
  bool chooses_keys() const { return has_basic_mode() || (mode_ & FI_MR_PROV_KEY) != 0; }
  bool by_address() const { return has_basic_mode() || (mode_ & FI_MR_VIRT_ADDR) != 0; }

  /// 0, or libfabric's error: no room, or the key is in use or too large.
  int add(Region& region, std::uint64_t wanted_key);
  void remove(Region& region);

  /// The place that a peer names, of `size` bytes, for `access`; null: it may not reach it, through
  /// this endpoint.
  std::byte* find(std::uint64_t key, std::uint64_t target, std::size_t size, std::uint64_t access,
                  const void* endpoint);
  /// Returns true if a descriptor covers local memory for `access`.
  bool covers(const void* descriptor, const void* memory, std::size_t size,
              std::uint64_t access) const;

  /// The bytes that the interface reads and writes for a place of registered memory: the memory, or
  /// the pages that it had when it was registered; of a device's memory where the processor reaches
  /// it.
  static std::byte* pages(Region* region, std::byte* memory);

 private:
  std::uint64_t mode_;
  std::uint64_t next_key_ = 0x11;
  std::uint64_t bytes_ = 0;
  std::map<std::uint64_t, Region*> by_key_;
};

}  // namespace gexsim
