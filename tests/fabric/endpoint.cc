#include "endpoint.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>
#include <time.h>

#include <atomic>
#include <cstring>

#include "address.h"
#include "address_vector.h"
#include "connection.h"
#include "event_queue.h"
#include "knobs.h"
#include "provider.h"
#include "stubs.h"

namespace gexsim {

namespace {

std::atomic<std::uint64_t> open_endpoints{0};
std::atomic<bool> movers_end{false};
std::atomic<int> movers{0};

}  // namespace

struct EndpointTable {
  static Endpoint& own(fid* object) {
    return *static_cast<Endpoint*>(reinterpret_cast<fid_ep*>(object));
  }

  static int close(fid* object) {
    delete &own(object);
    return 0;
  }

  static int bind(fid* object, fid* to, std::uint64_t flags) {
    Endpoint& endpoint = own(object);
    const std::lock_guard guard(endpoint.domain_.mutex());
    if (endpoint.is_enabled_) return -FI_EOPBADSTATE;
    if (to->fclass == FI_CLASS_AV) {
      endpoint.addresses_ = static_cast<AddressVector*>(reinterpret_cast<fid_av*>(to));
      return 0;
    }
    if (to->fclass == FI_CLASS_EQ) {
      endpoint.events_ = static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(to));
      return 0;
    }
    if (to->fclass != FI_CLASS_CQ) return -FI_EINVAL;
    auto* queue = static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(to));
    if ((flags & FI_TRANSMIT) != 0) {
      endpoint.transmit_queue_ = queue;
      endpoint.is_selective_ = (flags & FI_SELECTIVE_COMPLETION) != 0;
    }
    if ((flags & FI_RECV) != 0) endpoint.receive_queue_ = queue;
    queue->detach(endpoint);
    queue->attach(endpoint);
    return 0;
  }

  static int control(fid* object, int command, void* /*argument*/) {
    Endpoint& endpoint = own(object);
    const std::lock_guard guard(endpoint.domain_.mutex());
    if (command != FI_ENABLE) return -FI_ENOSYS;
    if (endpoint.addresses_ == nullptr && !endpoint.is_for_one_) return -FI_ENOAV;
    if (endpoint.transmit_queue_ == nullptr || endpoint.receive_queue_ == nullptr) return -FI_ENOCQ;
    if (endpoint.receive_queue_->asked_size() > knobs().cq_max) return -FI_EINVAL;
    endpoint.is_enabled_ = true;
    if (knobs().progress_thread != 0) {
      ++movers;
      endpoint.mover_ = std::thread([&endpoint] { endpoint.move_on(); });
    }
    return 0;
  }

  static int get_option(fid_t object, int level, int option, void* value, std::size_t* size) {
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    if (*size < sizeof(std::size_t)) return -FI_ETOOSMALL;
    std::memcpy(value, &own(object).min_multi_recv_, sizeof(std::size_t));
    *size = sizeof(std::size_t);
    return 0;
  }

  static int set_option(fid_t object, int level, int option, const void* value, std::size_t size) {
    Endpoint& endpoint = own(object);
    const std::lock_guard guard(endpoint.domain_.mutex());
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
    if (size != sizeof(std::size_t)) return -FI_EINVAL;
    if (endpoint.is_enabled_ && knobs().min_recv_option == "before") return 0;
    std::memcpy(&endpoint.min_multi_recv_, value, sizeof(std::size_t));
    return 0;
  }

  static int get_name(fid_t object, void* name, std::size_t* size) {
    const Endpoint& endpoint = own(object);
    return write_name(endpoint.inbox_->address(), endpoint.domain_.nic(), name, *size);
  }
};

namespace {

fi_ops endpoint_object{.size = sizeof(fi_ops),
                       .close = EndpointTable::close,
                       .bind = EndpointTable::bind,
                       .control = EndpointTable::control,
                       .ops_open = missing,
                       .tostr = missing,
                       .ops_set = missing};
fi_ops_ep endpoint_table{.size = sizeof(fi_ops_ep),
                         .cancel = missing,
                         .getopt = EndpointTable::get_option,
                         .setopt = EndpointTable::set_option,
                         .tx_ctx = missing,
                         .rx_ctx = missing,
                         .rx_size_left = missing,
                         .tx_size_left = missing};
fi_ops_cm connection_table{.size = sizeof(fi_ops_cm),
                           .setname = missing,
                           .getname = EndpointTable::get_name,
                           .getpeer = missing,
                           .connect = connect_endpoint,
                           .listen = missing,
                           .accept = accept_connection,
                           .reject = missing,
                           .shutdown = shut_down,
                           .join = missing};

}  // namespace

Endpoint::Endpoint(Domain& domain, const fi_info& info, void* context)
    : fid_ep{},
      domain_(domain),
      order_(info.tx_attr->msg_order),
      max_order_(info.ep_attr->max_order_raw_size | info.ep_attr->max_order_waw_size),
      default_flags_(info.tx_attr->op_flags),
      inject_size_(info.tx_attr->inject_size),
      is_for_one_(info.ep_attr->type == FI_EP_MSG),
      inbox_(Inbox::create(knobs().inbox, reach_of(domain.nic(), info.ep_attr->protocol))) {
  fid.fclass = FI_CLASS_EP;
  fid.context = context;
  fid.ops = &endpoint_object;
  ops = &endpoint_table;
  cm = &connection_table;
  msg = &message_table;
  rma = &one_sided_table;
  tagged = &tagged_table;
  atomic = &atomic_table;
  if (is_for_one_ && info.src_addr != nullptr) {
    const auto* name = static_cast<const std::byte*>(info.src_addr);
    name_.assign(name, name + info.src_addrlen);
  }
  if (info.handle != nullptr && info.handle->fclass == FI_CLASS_CONNREQ) {
    const std::unique_ptr<ConnectionRequest> request(static_cast<ConnectionRequest*>(info.handle));
    remote_ = request->source;
  }
  ++open_endpoints;
}

Endpoint::~Endpoint() {
  ends_ = true;
  if (mover_.joinable()) mover_.join();
  const std::lock_guard guard(domain_.mutex());
  disconnect();
  if (is_for_one_ && events_ != nullptr) events_->forget(&fid);
  if (inbox_) inbox_->close();
  if (transmit_queue_ != nullptr) transmit_queue_->detach(*this);
  if (receive_queue_ != nullptr) receive_queue_->detach(*this);
  --open_endpoints;
}

bool Endpoint::find_local(void* descriptor, Segment& segment, std::uint64_t access) {
  const std::lock_guard guard(domain_.mutex());
  // A device's memory needs a descriptor in any case.
  if (!domain_.regions().needs_local() && (descriptor == nullptr || knobs().hmem.empty()))
    return true;
  if (segment.size == 0) return true;
  if (!domain_.regions().covers(descriptor, segment.local, segment.size, access)) return false;
  segment.region = static_cast<Region*>(static_cast<fid_mr*>(descriptor));
  return true;
}

void end_movers() {
  movers_end = true;
  while (movers != 0) std::this_thread::yield();
}

void Endpoint::move_on() {
  const timespec moment{.tv_sec = 0, .tv_nsec = 200'000};
  for (; !ends_ && !movers_end; nanosleep(&moment, nullptr)) {
    const std::lock_guard guard(domain_.mutex());
    progress();
  }
  --movers;
}

void Endpoint::progress() {
  if (!is_enabled_) return;
  ++polls_;
  inbox_->count_poll();
  handle_arrivals();
  serve();
  for (auto& [address, peer] : peers_) pump(peer);
  fail_lost_peers();
  add_unasked_completions();
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
  if (info->ep_attr->type != endpoint_type()) return -FI_EINVAL;
  if (open_endpoints >= knobs().endpoints) return -FI_EBUSY;
  *endpoint = new Endpoint(*static_cast<Domain*>(domain), *info, context);
  return 0;
}

}  // namespace gexsim
