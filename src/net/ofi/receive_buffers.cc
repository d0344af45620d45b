#include "net/ofi/receive_buffers.h"

#include <sys/mman.h>

#include <string_view>
#include <utility>

#include "base/spin_lock.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t large_size = std::size_t{256} << 10;
constexpr std::size_t small_size = (max_wire + page - 1) / page * page;
static_assert(large_size >= 4 * max_wire);

/// Buffers of a kind that are posted at first; with fewer than `least` posted, another is made, and
/// with `max`, no more are posted again.
struct Supply {
  std::uint32_t first;
  std::uint32_t least;
  std::uint32_t max;
};
constexpr Supply large_supply{8, 3, 12};
constexpr Supply small_supply{64, 32, 96};
static_assert(large_supply.first * large_size <= ReceiveBuffers::max_at_first);
static_assert(small_supply.first * small_size <= ReceiveBuffers::max_at_first);

/// Returns true if a provider reports when it has written all of a buffer for many messages. Those
/// do not that make connections, or are layered on another ("udp;ofi_rxd").
bool reports_full_buffers(const fi_info& info) noexcept {
  return !habits_of(info).connects &&
         std::string_view(info.fabric_attr->prov_name).find(';') == std::string_view::npos;
}

/// How many buffers there should be.
const Supply& supply_of(bool large) noexcept {
  return large ? large_supply : small_supply;
}

}  // namespace

ReceiveBuffers::Buffer::~Buffer() {
  region.reset();
  if (memory != nullptr) munmap(memory, memory_size);
}

ReceiveBuffers::ReceiveBuffers(const Endpoint& endpoint, Registrar& registrar, bool threaded)
    : endpoint_(endpoint),
      registrar_(registrar),
      large_(reports_full_buffers(endpoint.info())),
      buffer_size_(large_ ? large_size : small_size),
      threaded_(threaded) {
}

bool ReceiveBuffers::start(std::string& error) {
  for (std::uint32_t i = 0; i < supply_of(large_).first; ++i)
    if (!add(error)) return false;
  return true;
}

bool ReceiveBuffers::add(std::string& error) {
  void* memory =
      mmap(nullptr, buffer_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    error = "no memory for arriving messages";
    return false;
  }
  std::list<Buffer> made(1);
  Buffer& buffer = made.front();
  buffer.purpose = OperationContext::Purpose::receive;
  buffer.memory = static_cast<std::byte*>(memory);
  buffer.memory_size = buffer_size_;
  buffer.self = made.begin();
  if (registrar_.needs_local()) {
    buffer.region = registrar_.add(memory, buffer_size_, FI_RECV, error);
    if (!buffer.region) return false;
  }
  {
    const OptionalGuard guard(mutex_, threaded_);
    buffers_.splice(buffers_.end(), made);
  }
  post(buffer);
  return true;
}

void ReceiveBuffers::post(Buffer& buffer) {
  iovec place{buffer.memory, buffer_size_};
  void* descriptor = buffer.region ? fi_mr_desc(buffer.region.get()) : nullptr;
  fi_msg message{};
  message.msg_iov = &place;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &buffer.for_provider;
  // Before it is posted: a message may have arrived by the time the call returns.
  buffer.uses.store(1, std::memory_order_relaxed);
  posted_.fetch_add(1, std::memory_order_relaxed);
  if (fi_recvmsg(endpoint_.endpoint(), &message, large_ ? FI_MULTI_RECV : 0) == 0) return;
  // No room now, it claims; a provider that can never take it is found out by the job's
  // standing still with nothing posted, which the tests of a new provider show at once.
  posted_.fetch_sub(1, std::memory_order_relaxed);
  buffer.uses.store(0, std::memory_order_relaxed);
  const OptionalGuard guard(mutex_, threaded_);
  refused_.push_back(&buffer);
  any_refused_.store(true, std::memory_order_relaxed);
}

void ReceiveBuffers::hold(Buffer& buffer) noexcept {
  // Relaxed: the caller has a use of its own, or the provider's.
  buffer.uses.fetch_add(1, std::memory_order_relaxed);
}

void ReceiveBuffers::release(Buffer& buffer) {
  // Acquire and release: all reads of the buffer come before the provider writes it again.
  if (buffer.uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (posted_.load(std::memory_order_relaxed) < supply_of(large_).max)
    post(buffer);
  else
    give_up(buffer);
}

void ReceiveBuffers::give_up(Buffer& buffer) {
  std::list<Buffer> gone;
  const OptionalGuard guard(mutex_, threaded_);
  gone.splice(gone.end(), buffers_, buffer.self);
}

const std::byte* ReceiveBuffers::message_in(const Buffer& buffer,
                                            const fi_cq_data_entry& entry) const noexcept {
  // Only of a buffer for many does a provider report where, or that it is ours again and nothing
  // more.
  if (!large_) return buffer.memory;
  // Some providers do not mark receives. All messages have a stamp, so none is empty.
  const bool is_message = (entry.flags & FI_RECV) != 0 || entry.len != 0;
  return is_message ? static_cast<const std::byte*>(entry.buf) : nullptr;
}

void ReceiveBuffers::failed(Buffer& buffer, bool last) {
  if (!large_ || last)
    completed(buffer, last);
  else
    doubt(buffer);
}

void ReceiveBuffers::completed(Buffer& buffer, bool last) {
  if (large_ && !last) return;
  if (std::exchange(buffer.is_doubtful, false))
    --doubtful_;
  else
    posted_.fetch_sub(1, std::memory_order_relaxed);
  release(buffer);
}

void ReceiveBuffers::doubt(Buffer& buffer) {
  if (std::exchange(buffer.is_doubtful, true)) return;
  ++doubtful_;
  posted_.fetch_sub(1, std::memory_order_relaxed);
}

bool ReceiveBuffers::is_full(const Buffer& buffer, const fi_cq_data_entry& entry) const noexcept {
  const auto* const end = static_cast<const std::byte*>(entry.buf) + entry.len;
  return large_ && entry.len != 0 &&
         static_cast<std::size_t>(end - buffer.memory) + max_wire > buffer_size_;
}

void ReceiveBuffers::replenish() {
  if (any_refused_.load(std::memory_order_relaxed)) {
    std::vector<Buffer*> again;
    {
      const OptionalGuard guard(mutex_, threaded_);
      again.swap(refused_);
      any_refused_.store(false, std::memory_order_relaxed);
    }
    for (Buffer* buffer : again) post(*buffer);
  }
  if (posted_.load(std::memory_order_relaxed) < supply_of(large_).least &&
      !any_refused_.load(std::memory_order_relaxed)) {
    // Without memory for more, what is posted has to do until messages have been handled.
    std::string error;
    add(error);
  }
}

}  // namespace gex::net::ofi
