#pragma once
// Connections of endpoints that have one peer (FI_EP_MSG): a passive endpoint, at which requests
// arrive, and what an endpoint does to be connected.
//
// A request is a packet in the passive endpoint's inbox, with the name of the endpoint that asks
// and the client's data; the answer, and later the end of the connection, are packets in that of
// the endpoint. A client learns of each by an event.
//
// Thread rules: `handle_requests` with the event queue's mutex held; the rest what libfabric calls.

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include <deque>
#include <memory>

#include "event_queue.h"
#include "wire.h"

namespace gexsim {

/// The handle of a request that is neither accepted nor rejected.
struct ConnectionRequest : fid {
  explicit ConnectionRequest(const Address& from);
  Address source;
};

class PassiveEndpoint : public fid_pep {
 public:
  PassiveEndpoint(const fi_info& info, void* context);
  ~PassiveEndpoint();

  void handle_requests(std::deque<Event>& events);

 private:
  friend struct PassiveEndpointTable;
  fi_info* info_;  ///< what is reported of each request
  int nic_;
  std::unique_ptr<Inbox> inbox_;
  EventQueue* events_ = nullptr;
  bool listens_ = false;
};

/// An entry of the fabric's table.
int open_passive_endpoint(fid_fabric* fabric, fi_info* info, fid_pep** endpoint, void* context);

/// Entries of an endpoint's table.
int connect_endpoint(fid_ep* endpoint, const void* name, const void* data, std::size_t size);
int accept_connection(fid_ep* endpoint, const void* data, std::size_t size);
int shut_down(fid_ep* endpoint, std::uint64_t flags);

}  // namespace gexsim
