#pragma once
// The objects that the endpoints of a process share: libfabric's fabric and domain, and the
// addresses of peers' endpoints.
//
// Thread rules: `insert` and `address_of` any where the provider is threaded; the rest before other
// threads come.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "net/ofi/fabric.h"
#include "net/ofi/habits.h"
#include "net/ofi/peer_addresses.h"

namespace gex::net::ofi {

/// A provider has these one-sided operations, and completes puts in this way.
struct RmaMeans {
  bool available = false;
  bool atomics = false;
  bool delivery_complete = false;  ///< it reports when the bytes are at the peer
  /// The largest put that a read which follows it does not overtake; 0: reads overtake.
  std::size_t max_ordered = 0;
  /// The largest put that a later one, which is delivered, does not overtake; 0: none is behind
  /// another, or that is of no use.
  std::size_t max_fenced = 0;
};

/// The promises that a provider was found not to keep, as bits.
using Broken = std::uint32_t;
/// Puts that complete when they are delivered complete before, or never.
inline constexpr Broken broken_delivery = 1;
/// Reads overtake puts.
inline constexpr Broken broken_order = 2;
/// Puts overtake puts.
inline constexpr Broken broken_write_order = 4;

RmaMeans rma_means(const fi_info& info, Broken broken = 0) noexcept;

/// A place of a rank's memory, as its provider has peers name it.
struct Place {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

/// Returns the habits of the provider that this describes.
Habits habits_of(const fi_info& info) noexcept;

class Domain {
 public:
  /// Opens everything; `error` is set and the object of no use when something could not be had.
  /// `endpoints`: that a rank has at most.
  Domain(Info info, Broken broken, std::size_t ranks, std::size_t endpoints, std::string& error);

  const fi_info& info() const noexcept { return *info_; }
  RmaMeans rma() const noexcept { return rma_; }
  fid_fabric* fabric() const noexcept { return fabric_.get(); }
  fid_domain* domain() const noexcept { return domain_.get(); }
  fid_av* addresses() const noexcept { return peers_.get(); }
  /// Endpoints report there the errors that belong to no operation; null: the provider has none.
  fid_eq* events() const noexcept { return events_.get(); }
  /// Returns the text of such an error, or nothing.
  std::string take_device_error() const;
  bool has_text_for_name() const noexcept { return info_->addr_format == FI_ADDR_STR; }

  /// The names of all ranks' first endpoints, each `stride` bytes after the one before; they stay
  /// there, as `host` does. After false `error` is set.
  bool set_first_names(const Host& host, const std::byte* names, std::size_t stride,
                       std::string& error);
  /// The address of a further endpoint; FI_ADDR_NOTAVAIL if the provider refuses its name.
  fi_addr_t insert(const std::byte* name) const;

  /// Returns the address of the peer's first endpoint. Once its name is set.
  fi_addr_t address_of(std::uint32_t rank) const noexcept { return first_addresses_->of(rank); }
  std::size_t ranks() const noexcept { return ranks_; }

  /// Where each rank lets others write without harm (scratch.h), each `stride` bytes after the one
  /// before; they stay there.
  void set_scratch_places(const Place* places, std::size_t stride) noexcept {
    scratch_places_ = reinterpret_cast<const std::byte*>(places);
    scratch_stride_ = stride;
  }
  const Place& scratch_place_of(std::uint32_t rank) const noexcept {
    return *reinterpret_cast<const Place*>(scratch_places_ + rank * scratch_stride_);
  }

 private:
  // In the order in which they stand on one another.
  Info info_;
  RmaMeans rma_;
  std::size_t ranks_;
  Fid<fid_fabric> fabric_;
  Fid<fid_eq> events_;
  Fid<fid_domain> domain_;
  Fid<fid_av> peers_;
  std::optional<PeerAddresses> first_addresses_;
  const std::byte* scratch_places_ = nullptr;
  std::size_t scratch_stride_ = 0;
};

/// After an open function of libfabric's, which wrote to `object`; false after setting `error`.
template <class T>
bool took(int result, T* const& object, Fid<T>& into, const char* what, std::string& error) {
  if (result != 0) {
    error = std::string(what) + ": " + error_text(result);
    return false;
  }
  into.reset(object);
  return true;
}

}  // namespace gex::net::ofi
