#include "fabric.h"

#include <cstring>
#include <memory>

#include "domain.h"
#include "knobs.h"
#include "provider.h"
#include "stubs.h"

namespace gexsim {

struct EventQueueTable {
  static ssize_t read(fid_eq* queue, std::uint32_t*, void*, std::size_t, std::uint64_t) {
    auto& own = *static_cast<EventQueue*>(queue);
    const std::lock_guard guard(own.mutex_);
    return own.errors_.empty() ? -FI_EAGAIN : -FI_EAVAIL;
  }
  static ssize_t read_error(fid_eq* queue, fi_eq_err_entry* entry, std::uint64_t) {
    auto& own = *static_cast<EventQueue*>(queue);
    const std::lock_guard guard(own.mutex_);
    if (own.errors_.empty()) return -FI_EAGAIN;
    *entry = own.errors_.front();
    own.errors_.pop_front();
    return sizeof *entry;
  }
  static int close(fid* object) {
    delete static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(object));
    return 0;
  }
};

namespace {

struct Fabric : fid_fabric {};

fi_ops event_queue_object{.size = sizeof(fi_ops),
                          .close = EventQueueTable::close,
                          .bind = missing,
                          .control = missing,
                          .ops_open = missing,
                          .tostr = missing,
                          .ops_set = missing};
fi_ops_eq event_queue_table{
    .size = sizeof(fi_ops_eq),
    .read = EventQueueTable::read,
    .readerr = EventQueueTable::read_error,
    .write = missing,
    .sread = missing,
    .strerror = [](fid_eq*, int, const void*, char*, std::size_t) -> const char* { return ""; }};

int close_fabric(fid* object) {
  delete static_cast<Fabric*>(reinterpret_cast<fid_fabric*>(object));
  return 0;
}

int open_event_queue(fid_fabric*, fi_eq_attr* attributes, fid_eq** queue, void* context) {
  if (attributes != nullptr && attributes->wait_obj != FI_WAIT_NONE &&
      attributes->wait_obj != FI_WAIT_UNSPEC)
    return -FI_ENOSYS;
  *queue = new EventQueue(attributes, context);
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
                           .passive_ep = missing,
                           .eq_open = open_event_queue,
                           .wait_open = missing,
                           .trywait = missing,
                           .domain2 = missing};

}  // namespace

EventQueue::EventQueue(const fi_eq_attr* /*attributes*/, void* context) : fid_eq{} {
  fid.fclass = FI_CLASS_EQ;
  fid.context = context;
  fid.ops = &event_queue_object;
  ops = &event_queue_table;
}

void EventQueue::add_error(int error, void* about) {
  const std::lock_guard guard(mutex_);
  fi_eq_err_entry entry{};
  entry.err = error;
  entry.context = about;
  errors_.push_back(entry);
}

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
