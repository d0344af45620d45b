// The fabric, below which all else is opened.

#include <rdma/fi_domain.h>

#include <memory>

#include "connection.h"
#include "domain.h"
#include "event_queue.h"
#include "provider.h"
#include "stubs.h"

namespace gexsim {

namespace {

struct Fabric : fid_fabric {};

int close_fabric(fid* object) {
  delete static_cast<Fabric*>(reinterpret_cast<fid_fabric*>(object));
  return 0;
}

fi_ops fabric_object{.size = sizeof(fi_ops),
                     .close = close_fabric,
                     .bind = missing,
                     .control = missing,
                     .ops_open = missing,
                     .tostr = missing,
                     .ops_set = missing};
fi_ops_fabric fabric_table{.size = sizeof(fi_ops_fabric),
                           .domain = open_domain,
                           .passive_ep = open_passive_endpoint,
                           .eq_open = open_event_queue,
                           .wait_open = missing,
                           .trywait = missing,
                           .domain2 = missing};

}  // namespace

int open_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  auto made = std::make_unique<Fabric>();
  made->fid.fclass = FI_CLASS_FABRIC;
  made->fid.context = context;
  made->fid.ops = &fabric_object;
  made->ops = &fabric_table;
  made->api_version = attributes->api_version;
  *fabric = made.release();
  return 0;
}

}  // namespace gexsim
