#include "completion_queue.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "domain.h"
#include "endpoint.h"
#include "knobs.h"
#include "stubs.h"

namespace gexsim {

struct CompletionQueueTable {
  static CompletionQueue& own(fid_cq* queue) { return *static_cast<CompletionQueue*>(queue); }

  static std::size_t entry_size(fi_cq_format format) {
    switch (format) {
      case FI_CQ_FORMAT_MSG:
        return sizeof(fi_cq_msg_entry);
      case FI_CQ_FORMAT_DATA:
        return sizeof(fi_cq_data_entry);
      case FI_CQ_FORMAT_TAGGED:
        return sizeof(fi_cq_tagged_entry);
      default:
        return sizeof(fi_cq_entry);
    }
  }

  static ssize_t read(fid_cq* object, void* buffer, std::size_t count) {
    CompletionQueue& queue = own(object);
    const std::lock_guard guard(queue.domain_.mutex());
    ++queue.reads_;
    if (queue.is_broken_) return -FI_EOVERRUN;
    for (Endpoint* endpoint : queue.endpoints_) endpoint->progress();
    if (queue.is_broken_) return -FI_EOVERRUN;
    if (queue.entries_.empty()) return -FI_EAGAIN;
    if (queue.entries_.front().error != 0) return -FI_EAVAIL;
    const std::size_t size = entry_size(queue.format_);
    std::size_t taken = 0;
    // The formats are the beginnings of one another.
    for (; taken < count && !queue.entries_.empty() && queue.entries_.front().error == 0; ++taken) {
      std::memcpy(static_cast<std::byte*>(buffer) + taken * size, &queue.entries_.front().entry,
                  size);
      queue.entries_.pop_front();
    }
    return static_cast<ssize_t>(taken);
  }

  static ssize_t read_from(fid_cq* queue, void* buffer, std::size_t count, fi_addr_t* sources) {
    const ssize_t taken = read(queue, buffer, count);
    for (ssize_t i = 0; i < taken; ++i) sources[i] = FI_ADDR_NOTAVAIL;
    return taken;
  }

  static ssize_t read_error(fid_cq* object, fi_cq_err_entry* entry, std::uint64_t /*flags*/) {
    CompletionQueue& queue = own(object);
    const std::lock_guard guard(queue.domain_.mutex());
    if (queue.entries_.empty() || queue.entries_.front().error == 0) return -FI_EAGAIN;
    const Completion& failed = queue.entries_.front();
    void* const data = entry->err_data;
    *entry = {};
    entry->err_data = data;
    entry->op_context = failed.entry.op_context;
    entry->flags = failed.entry.flags;
    entry->len = failed.entry.len;
    entry->buf = failed.entry.buf;
    entry->err = failed.error;
    queue.entries_.pop_front();
    return 1;
  }

  static int close(fid* object) {
    CompletionQueue& queue = own(reinterpret_cast<fid_cq*>(object));
    if (!queue.endpoints_.empty()) return -FI_EBUSY;
    delete &queue;
    return 0;
  }
};

namespace {

/// Completions that a queue is made for.
std::size_t size_for(const fi_cq_attr& attributes) {
  return knobs().universe_cq == 0 ? attributes.size : knobs().universe_cq;
}

fi_ops queue_object{.size = sizeof(fi_ops),
                    .close = CompletionQueueTable::close,
                    .bind = missing,
                    .control = missing,
                    .ops_open = missing,
                    .tostr = missing,
                    .ops_set = missing};
fi_ops_cq queue_table{.size = sizeof(fi_ops_cq),
                      .read = CompletionQueueTable::read,
                      .readfrom = CompletionQueueTable::read_from,
                      .readerr = CompletionQueueTable::read_error,
                      .sread = missing,
                      .sreadfrom = missing,
                      .signal = missing,
                      .strerror = [](fid_cq*, int error, const void*, char*,
                                     std::size_t) -> const char* { return fi_strerror(error); }};

}  // namespace

CompletionQueue::CompletionQueue(Domain& domain, const fi_cq_attr& attributes, void* context)
    : fid_cq{},
      domain_(domain),
      format_(attributes.format),
      asked_size_(size_for(attributes)),
      capacity_(std::min<std::uint64_t>(asked_size_ == 0 ? 1024 : asked_size_, knobs().cq_size)),
      overruns_(knobs().cq_full == "overrun") {
  fid.fclass = FI_CLASS_CQ;
  fid.context = context;
  fid.ops = &queue_object;
  ops = &queue_table;
}

void CompletionQueue::detach(const Endpoint& endpoint) {
  std::erase(endpoints_, &endpoint);
}

bool CompletionQueue::reserve() {
  if (!overruns_ && entries_.size() + reserved_ >= capacity_) return false;
  ++reserved_;
  return true;
}

void CompletionQueue::add(const Completion& completion, bool is_reserved) {
  if (is_reserved) --reserved_;
  if (overruns_ && entries_.size() >= capacity_) {
    is_broken_ = true;
    return;
  }
  entries_.push_back(completion);
}

int open_completion_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue,
                          void* context) {
  if (attributes->wait_obj != FI_WAIT_NONE) return -FI_ENOSYS;
  *queue = new CompletionQueue(*static_cast<Domain*>(domain), *attributes, context);
  return 0;
}

}  // namespace gexsim
