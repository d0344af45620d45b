#pragma once
// Peers' first endpoints, as the provider's table of addresses numbers them. A rank keeps nothing
// of a peer until it first sends to it: what the provider keeps of an address is 100 bytes and
// more.
//
// Thread rules: `of` any where the provider is threaded; the rest before other threads come.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/zeroed_table.h"
#include "net/ofi/fabric.h"

namespace gex::net::ofi {

/// An address, or FI_ADDR_NOTAVAIL until it is set; zero bytes at first.
class AddressCell {
 public:
  // Acquire and release: the provider's entry is complete.
  fi_addr_t get() const noexcept { return plus_one_.load(std::memory_order_acquire) - 1; }
  void set(fi_addr_t address) noexcept { plus_one_.store(address + 1, std::memory_order_release); }

 private:
  static_assert(FI_ADDR_NOTAVAIL + 1 == 0);
  std::atomic<fi_addr_t> plus_one_;
};

class PeerAddresses {
 public:
  /// `table`: the provider's. `names`: of the endpoints, each `stride` bytes after the one before.
  /// All stay there.
  PeerAddresses(const Host& host, fid_av* table, const std::byte* names, std::size_t stride)
      : host_(host), table_(table), names_(names), stride_(stride), addresses_(host.size) {}

  /// For a provider that needs all addresses before the first message; after false `error` is set.
  bool insert_all(std::string& error);

  /// Returns the peer's address, which is inserted if it was not before. Ends the job if the
  /// provider refuses it.
  fi_addr_t of(std::uint32_t rank) const noexcept {
    const fi_addr_t address = addresses_[rank].get();
    return address != FI_ADDR_NOTAVAIL ? address : first_use(rank);
  }

 private:
  /// With the mutex held, or no other thread here: the address, or FI_ADDR_NOTAVAIL with `error`.
  fi_addr_t insert(std::uint32_t rank, std::string& error) const;
  [[gnu::cold, gnu::noinline]] fi_addr_t first_use(std::uint32_t rank) const noexcept;

  const Host& host_;
  fid_av* const table_;
  const std::byte* const names_;
  const std::size_t stride_;
  mutable ZeroedTable<AddressCell> addresses_;  ///< by rank
  mutable std::mutex mutex_;                    ///< of insertions
};

}  // namespace gex::net::ofi
