#pragma once
// One endpoint of libfabric's with all that it stands on: fabric, domain, peers' addresses and one
// completion queue. One serves both channels; how they are kept apart says network.h.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "net/ofi/fabric.h"

namespace gex::net::ofi {

/// What a provider has of one-sided operations, and how it completes puts.
struct RmaMeans {
  bool available = false;
  bool atomics = false;
  bool delivery_complete = false;  ///< it says when the bytes are at the peer
  /// The largest put that a read which follows it does not overtake; 0: reads overtake.
  std::size_t most_ordered = 0;
};
RmaMeans rma_means(const fi_info& info) noexcept;

/// Whether it carries messages over connections that it makes itself, at the first message between
/// two ranks.
bool makes_connections(const fi_info& info) noexcept;

class Endpoint {
 public:
  /// Opens everything; `error` is set and the object of no use when something could not be had.
  Endpoint(Info info, std::string& error);

  const fi_info& info() const noexcept { return *info_; }
  RmaMeans rma() const noexcept { return rma_; }
  fid_domain* domain() const noexcept { return domain_.get(); }
  fid_ep* endpoint() const noexcept { return endpoint_.get(); }
  fid_cq* completions() const noexcept { return completions_.get(); }

  /// By what name peers reach it. Providers whose names are texts may have longer and shorter ones.
  std::vector<std::byte> name(std::string& error) const;
  bool has_text_for_name() const noexcept { return info_->addr_format == FI_ADDR_STR; }
  /// Learns the names of all ranks, each `stride` bytes after the one before.
  bool learn(std::span<const std::byte> names, std::size_t stride, std::string& error);
  /// Once all peers have learned the names: what stands under it in a file system, which outlives a
  /// process that ends without `close`, goes.
  void forget_file() const;
  /// Ends all transfers. The buffers that the endpoint was given may go afterwards, not before.
  void close() noexcept { endpoint_.reset(); }

  fi_addr_t address_of(std::uint32_t rank) const noexcept { return addresses_[rank]; }

 private:
  // In the order in which they stand on one another: the endpoint goes first.
  Info info_;
  RmaMeans rma_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_av> peers_;
  Fid<fid_cq> completions_;
  Fid<fid_ep> endpoint_;
  std::vector<fi_addr_t> addresses_;
};

}  // namespace gex::net::ofi
