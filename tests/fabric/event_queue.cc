#include "event_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connection.h"
#include "stubs.h"

namespace gexsim {

struct EventQueueTable {
  static EventQueue& own(fid_eq* queue) { return *static_cast<EventQueue*>(queue); }

  static ssize_t read(fid_eq* object, std::uint32_t* what, void* buffer, std::size_t size,
                      std::uint64_t flags) {
    EventQueue& queue = own(object);
    if (flags != 0) return -FI_ENOSYS;
    const std::lock_guard guard(queue.mutex_);
    for (PassiveEndpoint* listener : queue.listeners_) listener->handle_requests(queue.events_);
    if (queue.events_.empty()) return -FI_EAGAIN;
    if (queue.events_.front().error != 0) return -FI_EAVAIL;
    const Event event = std::move(queue.events_.front());
    queue.events_.pop_front();
    const fi_eq_cm_entry entry{.fid = event.about, .info = event.info};
    if (size < sizeof entry) return -FI_ETOOSMALL;
    *what = event.what;
    const std::size_t data = std::min(size - sizeof entry, event.data.size());
    std::memcpy(buffer, &entry, sizeof entry);
    if (data != 0)
      std::memcpy(static_cast<std::byte*>(buffer) + sizeof entry, event.data.data(), data);
    return static_cast<ssize_t>(sizeof entry + data);
  }

  static ssize_t read_error(fid_eq* object, fi_eq_err_entry* entry, std::uint64_t) {
    EventQueue& queue = own(object);
    const std::lock_guard guard(queue.mutex_);
    if (queue.events_.empty() || queue.events_.front().error == 0) return -FI_EAGAIN;
    const Event event = std::move(queue.events_.front());
    queue.events_.pop_front();
    queue.error_data_ = event.data;
    *entry = {};
    entry->fid = event.about;
    entry->context = event.context;
    entry->err = event.error;
    entry->err_data = queue.error_data_.data();
    entry->err_data_size = queue.error_data_.size();
    return sizeof *entry;
  }

  static int close(fid* object) {
    delete &own(reinterpret_cast<fid_eq*>(object));
    return 0;
  }
};

namespace {

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

}  // namespace

EventQueue::EventQueue(void* context) : fid_eq{} {
  fid.fclass = FI_CLASS_EQ;
  fid.context = context;
  fid.ops = &event_queue_object;
  ops = &event_queue_table;
}

void EventQueue::add(Event&& event) {
  const std::lock_guard guard(mutex_);
  events_.push_back(std::move(event));
}

void EventQueue::forget(const ::fid* about) {
  const std::lock_guard guard(mutex_);
  std::erase_if(events_, [about](const Event& event) { return event.about == about; });
}

void EventQueue::attach(PassiveEndpoint& listener) {
  const std::lock_guard guard(mutex_);
  listeners_.push_back(&listener);
}

void EventQueue::detach(const PassiveEndpoint& listener) {
  const std::lock_guard guard(mutex_);
  std::erase(listeners_, &listener);
}

int open_event_queue(fid_fabric*, fi_eq_attr* attributes, fid_eq** queue, void* context) {
  if (attributes != nullptr && attributes->wait_obj != FI_WAIT_NONE &&
      attributes->wait_obj != FI_WAIT_UNSPEC)
    return -FI_ENOSYS;
  *queue = new EventQueue(context);
  return 0;
}

}  // namespace gexsim
