#include "domain.h"

#include <atomic>
#include <cstdlib>

#include "knobs.h"
#include "provider.h"
#include "stubs.h"

namespace gexsim {

void forbid_forks();

namespace {

std::atomic<std::uint64_t> open_domains{0};

fi_ops domain_object{.size = sizeof(fi_ops),
                     .close =
                         [](fid* object) {
                           delete static_cast<Domain*>(reinterpret_cast<fid_domain*>(object));
                           return 0;
                         },
                     .bind = missing,
                     .control = missing,
                     .ops_open = missing,
                     .tostr = missing,
                     .ops_set = missing};
fi_ops_domain domain_table{.size = sizeof(fi_ops_domain),
                           .av_open = open_addresses,
                           .cq_open = open_completion_queue,
                           .endpoint = open_endpoint,
                           .scalable_ep = missing,
                           .cntr_open = missing,
                           .poll_open = missing,
                           .stx_ctx = missing,
                           .srx_ctx = missing,
                           .query_atomic = missing,
                           .query_collective = missing,
                           .endpoint2 = missing};

}  // namespace

Domain::Domain(const fi_info& info, int nic, void* context)
    : fid_domain{},
      nic_(nic),
      regions_(static_cast<std::uint64_t>(info.domain_attr->mr_mode)),
      random_(knobs().seed * 1000003 + static_cast<std::uint64_t>(nic)) {
  fid.fclass = FI_CLASS_DOMAIN;
  fid.context = context;
  fid.ops = &domain_object;
  ops = &domain_table;
  mr = &region_table;
  ++open_domains;
}

Domain::~Domain() {
  --open_domains;
}

int open_domain(fid_fabric*, fi_info* info, fid_domain** domain, void* context) {
  const Knobs& own = knobs();
  const int nic = nic_of(info->domain_attr->name);
  if (nic < 0) return -FI_EINVAL;
  if (own.domain_error != 0) return -static_cast<int>(own.domain_error);
  if (!own.domain_needs.empty() && std::getenv(own.domain_needs.c_str()) == nullptr)
    return -FI_ENOSYS;
  if (static_cast<std::uint64_t>(nic) < own.broken_nics) return -FI_ENODEV;
  if (open_domains >= own.domains) return -FI_EINVAL;
  if (own.fork_aborts != 0) forbid_forks();
  *domain = new Domain(*info, nic, context);
  return 0;
}

}  // namespace gexsim
