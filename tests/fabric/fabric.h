#pragma once
// The fabric and its event queues.

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <cstdint>
#include <deque>
#include <mutex>

namespace gexsim {

/// Events of endpoints. They are not read in the order in which they matter, so they only wait.
class EventQueue : public fid_eq {
 public:
  EventQueue(const fi_eq_attr* attributes, void* context);

  void add_error(int error, void* about);

 private:
  friend struct EventQueueTable;
  std::mutex mutex_;
  std::deque<fi_eq_err_entry> errors_;
};

}  // namespace gexsim
