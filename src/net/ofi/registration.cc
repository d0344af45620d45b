#include "net/ofi/registration.h"

namespace gex::net::ofi {

Registrar::Registrar(const Endpoint& endpoint, bool always) noexcept
    : endpoint_(endpoint),
      mode_(static_cast<std::uint64_t>(endpoint.info().domain_attr->mr_mode)),
      needs_local_(always || (mode_ & FI_MR_LOCAL) != 0) {
}

Region Registrar::add(void* address, std::size_t size, std::uint64_t access, std::string& error) {
  // Relaxed: the numbers have to be different, no more.
  const std::uint64_t key =
      (mode_ & FI_MR_PROV_KEY) != 0 ? 0 : next_key_.fetch_add(1, std::memory_order_relaxed);
  fid_mr* made = nullptr;
  int result = fi_mr_reg(endpoint_.domain(), address, size, access, 0, key, 0, &made, nullptr);
  Region region(made);
  if (result == 0 && (mode_ & FI_MR_ENDPOINT) != 0) {
    result = fi_mr_bind(made, &endpoint_.endpoint()->fid, 0);
    if (result == 0) result = fi_mr_enable(made);
  }
  if (result == 0) return region;
  error = "registering " + std::to_string(size) + " bytes: " + error_text(result);
  return {};
}

}  // namespace gex::net::ofi
