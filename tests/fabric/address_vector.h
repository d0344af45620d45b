#pragma once
// A table of peers' addresses.

#include <rdma/fi_domain.h>

#include <mutex>
#include <optional>
#include <vector>

#include "wire.h"

namespace gexsim {

class AddressVector : public fid_av {
 public:
  explicit AddressVector(void* context);

  /// Nothing: no address has this number.
  std::optional<Address> find(fi_addr_t number) const;

 private:
  friend struct AddressVectorTable;
  mutable std::mutex mutex_;
  std::vector<std::optional<Address>> addresses_;
};

}  // namespace gexsim
