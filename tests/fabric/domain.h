#pragma once
// A domain: one network interface, with what belongs to it. One lock serves all of it, so every
// level of threading is safe.

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "memory_region.h"

namespace gexsim {

class Domain : public fid_domain {
 public:
  Domain(const fi_info& info, int nic, void* context);
  ~Domain();

  int nic() const { return nic_; }
  std::mutex& mutex() { return mutex_; }

  // With the mutex held.
  Regions& regions() { return regions_; }
  std::mt19937_64& random() { return random_; }

 private:
  int nic_;
  std::mutex mutex_;
  Regions regions_;
  std::mt19937_64 random_;
};

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context);

// Entries of the domain's table.
int open_addresses(fid_domain* domain, fi_av_attr* attributes, fid_av** addresses, void* context);
int open_completion_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue,
                          void* context);
int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);
extern fi_ops_mr region_table;

}  // namespace gexsim
