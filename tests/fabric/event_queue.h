#pragma once
// An event queue: connections that are made and lost, and errors that belong to no operation.
// Reading it takes in what has arrived at the passive endpoints that are bound to it.
//
// Thread rules: any.

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace gexsim {

class PassiveEndpoint;

struct Event {
  std::uint32_t what = 0;  ///< FI_CONNREQ and so on
  fid* about = nullptr;
  fi_info* info = nullptr;  ///< of a request; the reader's
  std::vector<std::byte> data;
  int error = 0;  ///< libfabric's number, of an event that is one
  void* context = nullptr;
};

class EventQueue : public fid_eq {
 public:
  explicit EventQueue(void* context);

  void add(Event&& event);
  /// The object has gone.
  void forget(const ::fid* about);
  void attach(PassiveEndpoint& listener);
  void detach(const PassiveEndpoint& listener);

 private:
  friend struct EventQueueTable;
  std::mutex mutex_;
  std::deque<Event> events_;
  std::vector<std::byte> error_data_;  ///< of the error that was read last
  std::vector<PassiveEndpoint*> listeners_;
};

/// An entry of the fabric's table.
int open_event_queue(fid_fabric* fabric, fi_eq_attr* attributes, fid_eq** queue, void* context);

}  // namespace gexsim
