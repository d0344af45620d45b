#include "net/ofi/peer_addresses.h"

#include "net/kit/fatal.h"

namespace gex::net::ofi {

bool PeerAddresses::insert_all(std::string& error) {
  for (std::uint32_t rank = 0; rank < host_.size; ++rank)
    if (insert(rank, error) == FI_ADDR_NOTAVAIL) return false;
  return true;
}

fi_addr_t PeerAddresses::insert(std::uint32_t rank, std::string& error) const {
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  const int inserted = fi_av_insert(table_, names_ + rank * stride_, 1, &address, 0, nullptr);
  if (inserted != 1) {
    error = "fi_av_insert of rank " + std::to_string(rank) + ": " +
            (inserted < 0 ? error_text(inserted) : "refused");
    return FI_ADDR_NOTAVAIL;
  }
  addresses_[rank].set(address);
  return address;
}

fi_addr_t PeerAddresses::first_use(std::uint32_t rank) const noexcept {
  const std::lock_guard guard(mutex_);
  // Another thread may have been here first.
  const fi_addr_t address = addresses_[rank].get();
  if (address != FI_ADDR_NOTAVAIL) return address;
  std::string error;
  const fi_addr_t inserted = insert(rank, error);
  if (inserted == FI_ADDR_NOTAVAIL)
    fatal(host_, "ofi: rank %u cannot reach rank %u: %s", host_.rank, rank, error.c_str());
  return inserted;
}

}  // namespace gex::net::ofi
