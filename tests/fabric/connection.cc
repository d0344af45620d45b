#include "connection.h"

#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "address.h"
#include "domain.h"
#include "endpoint.h"
#include "provider.h"
#include "stubs.h"

namespace gexsim {

namespace {

/// Bytes of a client's that go with a request or its answer.
constexpr std::size_t data_room = 56;

bool send(Inbox& inbox, Kind kind, const Address& source, std::span<const std::byte> name,
          const void* data, std::size_t size) {
  std::vector<std::byte> payload(name.begin(), name.end());
  const auto* bytes = static_cast<const std::byte*>(data);
  payload.insert(payload.end(), bytes, bytes + size);
  Packet packet{};
  packet.kind = kind;
  packet.source = source;
  packet.payload = static_cast<std::uint32_t>(payload.size());
  return inbox.put(packet, payload.data());
}

}  // namespace

struct PassiveEndpointTable {
  static PassiveEndpoint& own(fid* object) {
    return *static_cast<PassiveEndpoint*>(reinterpret_cast<fid_pep*>(object));
  }

  static int close(fid* object) {
    delete &own(object);
    return 0;
  }

  static int bind(fid* object, fid* to, std::uint64_t /*flags*/) {
    if (to->fclass != FI_CLASS_EQ) return -FI_EINVAL;
    PassiveEndpoint& endpoint = own(object);
    endpoint.events_ = static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(to));
    endpoint.events_->attach(endpoint);
    return 0;
  }

  static int get_option(fid_t, int level, int option, void* value, std::size_t* size) {
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_CM_DATA_SIZE) return -FI_ENOPROTOOPT;
    if (*size < sizeof data_room) return -FI_ETOOSMALL;
    std::memcpy(value, &data_room, sizeof data_room);
    *size = sizeof data_room;
    return 0;
  }

  static int get_name(fid_t object, void* name, std::size_t* size) {
    const PassiveEndpoint& endpoint = own(object);
    return write_name(endpoint.inbox_->address(), endpoint.nic_, name, *size);
  }

  static int listen(fid_pep* endpoint) {
    own(&endpoint->fid).listens_ = true;
    return 0;
  }

  static int reject(fid_pep* endpoint, fid_t handle, const void* data, std::size_t size) {
    const std::unique_ptr<ConnectionRequest> request(static_cast<ConnectionRequest*>(handle));
    const Address& own_address = own(&endpoint->fid).inbox_->address();
    const std::unique_ptr<Inbox> peer = Inbox::open(request->source, own_address.fabric);
    return peer && send(*peer, Kind::reject, own_address, {}, data, size) ? 0 : -FI_ENOTCONN;
  }
};

namespace {

fi_ops passive_object{.size = sizeof(fi_ops),
                      .close = PassiveEndpointTable::close,
                      .bind = PassiveEndpointTable::bind,
                      .control = missing,
                      .ops_open = missing,
                      .tostr = missing,
                      .ops_set = missing};
fi_ops_ep passive_table{.size = sizeof(fi_ops_ep),
                        .cancel = missing,
                        .getopt = PassiveEndpointTable::get_option,
                        .setopt = missing,
                        .tx_ctx = missing,
                        .rx_ctx = missing,
                        .rx_size_left = missing,
                        .tx_size_left = missing};
fi_ops_cm listening_table{.size = sizeof(fi_ops_cm),
                          .setname = missing,
                          .getname = PassiveEndpointTable::get_name,
                          .getpeer = missing,
                          .connect = missing,
                          .listen = PassiveEndpointTable::listen,
                          .accept = missing,
                          .reject = PassiveEndpointTable::reject,
                          .shutdown = missing,
                          .join = missing};

}  // namespace

ConnectionRequest::ConnectionRequest(const Address& from) : fid{}, source(from) {
  fclass = FI_CLASS_CONNREQ;
}

PassiveEndpoint::PassiveEndpoint(const fi_info& info, void* context)
    : fid_pep{},
      info_(fi_dupinfo(&info)),
      nic_(nic_of(info.domain_attr->name)),
      inbox_(Inbox::create(std::size_t{1} << 16, reach_of(nic_, info.ep_attr->protocol))) {
  fid.fclass = FI_CLASS_PEP;
  fid.context = context;
  fid.ops = &passive_object;
  ops = &passive_table;
  cm = &listening_table;
}

PassiveEndpoint::~PassiveEndpoint() {
  if (events_ != nullptr) {
    events_->detach(*this);
    events_->forget(&fid);
  }
  inbox_->close();
  fi_freeinfo(info_);
}

void PassiveEndpoint::handle_requests(std::deque<Event>& events) {
  Packet packet;
  std::vector<std::byte> payload;
  while (listens_ && inbox_->take(packet, payload)) {
    const std::size_t name = address_format().size;
    if (packet.kind != Kind::connect || payload.size() < name) continue;
    Event event;
    event.what = FI_CONNREQ;
    event.about = &fid;
    event.info = fi_dupinfo(info_);
    event.info->handle = new ConnectionRequest(packet.source);
    std::free(event.info->dest_addr);
    event.info->dest_addr = std::malloc(name);
    event.info->dest_addrlen = name;
    std::memcpy(event.info->dest_addr, payload.data(), name);
    event.data.assign(payload.begin() + static_cast<std::ptrdiff_t>(name), payload.end());
    events.push_back(std::move(event));
  }
}

int open_passive_endpoint(fid_fabric*, fi_info* info, fid_pep** endpoint, void* context) {
  if (info->ep_attr->type != FI_EP_MSG) return -FI_EINVAL;
  *endpoint = new PassiveEndpoint(*info, context);
  return 0;
}

int connect_endpoint(fid_ep* object, const void* name, const void* data, std::size_t size) {
  auto& endpoint = *static_cast<Endpoint*>(object);
  const std::lock_guard guard(endpoint.domain().mutex());
  return endpoint.ask_for_connection(read_name(name), data, size);
}

int accept_connection(fid_ep* object, const void* data, std::size_t size) {
  auto& endpoint = *static_cast<Endpoint*>(object);
  const std::lock_guard guard(endpoint.domain().mutex());
  return endpoint.accept_connection(data, size);
}

int shut_down(fid_ep* object, std::uint64_t /*flags*/) {
  auto& endpoint = *static_cast<Endpoint*>(object);
  const std::lock_guard guard(endpoint.domain().mutex());
  endpoint.disconnect();
  return 0;
}

int Endpoint::ask_for_connection(const Address& listener, const void* data, std::size_t size) {
  if (!is_for_one_ || events_ == nullptr) return -FI_EOPBADSTATE;
  if (size > data_room) return -FI_EINVAL;
  const std::unique_ptr<Inbox> there = Inbox::open(listener, inbox_->address().fabric);
  if (!there || !send(*there, Kind::connect, inbox_->address(), name_, data, size))
    events_->add({.what = 0, .about = &fid, .info = nullptr, .data = {}, .error = FI_ECONNREFUSED});
  return 0;
}

int Endpoint::accept_connection(const void* data, std::size_t size) {
  if (!remote_ || events_ == nullptr) return -FI_EOPBADSTATE;
  const Peer& peer = peer_of(*remote_);
  if (!peer.inbox || !send(*peer.inbox, Kind::accept, inbox_->address(), {}, data, size))
    return -FI_ENOTCONN;
  events_->add({.what = FI_CONNECTED, .about = &fid, .info = nullptr, .data = {}});
  return 0;
}

void Endpoint::disconnect() {
  if (!remote_) return;
  const Peer& peer = peer_of(*remote_);
  if (peer.inbox) send(*peer.inbox, Kind::shutdown, inbox_->address(), {}, nullptr, 0);
  remote_.reset();
}

void Endpoint::handle_connection(const Packet& packet, std::vector<std::byte>&& payload) {
  if (events_ == nullptr) return;
  Event event;
  event.about = &fid;
  if (packet.kind == Kind::accept) {
    remote_ = packet.source;
    event.what = FI_CONNECTED;
  } else if (packet.kind == Kind::reject) {
    event.error = FI_ECONNREFUSED;
  } else {
    event.what = FI_SHUTDOWN;
  }
  event.data = std::move(payload);
  events_->add(std::move(event));
}

}  // namespace gexsim
