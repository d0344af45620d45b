#include "net/ofi/send_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <string>

#include "net/ofi/fatal.h"
#include "net/ofi/lock.h"

namespace gex::net::ofi {

namespace {

constexpr std::size_t stride = sizeof(SendBuffer) + max_wire;
static_assert(stride % alignof(SendBuffer) == 0);

/// Buffers that are made ready at once: about a megabyte.
constexpr std::size_t batch = 64;

}  // namespace

SendPool::SendPool(const Host& host, std::size_t count, Registrar& registrar, bool threaded)
    : host_(host), count_(count), registrar_(registrar), threaded_(threaded) {
  // Address space only; a page exists once it is used.
  void* memory = mmap(nullptr, count * stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fatal(host_, "ofi: no address space for %zu messages to send", count);
  memory_ = static_cast<std::byte*>(memory);
  // With some there from the start, whoever finds none waits for one to come back.
  if (registrar.needs_local()) grow();
}

SendPool::~SendPool() {
  regions_.clear();
  munmap(memory_, count_ * stride);
}

SendBuffer* SendPool::at(std::size_t index) const noexcept {
  return reinterpret_cast<SendBuffer*>(memory_ + index * stride);
}

void SendPool::grow() {
  const std::size_t more = std::min(batch, count_ - ready_);
  void* descriptor = nullptr;
  if (more != 0 && registrar_.needs_local()) {
    std::string error;
    Region region = registrar_.add(at(ready_), more * stride, FI_SEND | FI_WRITE | FI_READ, error);
    if (!region) {
      if (ready_ != 0) return;
      fatal(host_, "ofi: rank %u cannot register what it sends: %s", host_.rank, error.c_str());
    }
    descriptor = fi_mr_desc(region.get());
    regions_.push_back(std::move(region));
  }
  for (std::size_t i = more; i-- > 0;) {
    SendBuffer* buffer = new (at(ready_ + i)) SendBuffer{};
    buffer->purpose = Operation::Purpose::send;
    buffer->descriptor = descriptor;
    free_.push_back(buffer);
  }
  ready_ += more;
}

SendBuffer* SendPool::take() {
  const Guard guard(mutex_, threaded_);
  if (free_.empty()) grow();
  if (free_.empty()) return nullptr;
  SendBuffer* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void SendPool::give_back(SendBuffer* buffer) {
  const Guard guard(mutex_, threaded_);
  free_.push_back(buffer);
}

SendBuffer* SendPool::built_at(const void* payload) const noexcept {
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(payload) - reinterpret_cast<std::uintptr_t>(memory_);
  if (offset >= count_ * stride) return nullptr;
  SendBuffer* buffer = at(offset / stride);
  return buffer->payload() == payload ? buffer : nullptr;
}

}  // namespace gex::net::ofi
