#include "am/set_aside.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"

namespace gex::am {

namespace {

/// At most so many messages are left to the client's threads, with so many bytes of payload.
constexpr std::size_t max_left = 1024;
constexpr std::size_t max_left_bytes = std::size_t{4} << 20;

struct Messages {
  SpinLock lock;
  std::vector<std::unique_ptr<SetAsideMessage>> list;  ///< for an endpoint
  gex_EP_t endpoint = GEX_EP_INVALID;
  std::vector<std::unique_ptr<SetAsideMessage>> due;
  std::size_t due_bytes = 0;
};
/// True if there are any due; changes under the lock.
std::atomic<bool> any_due{false};
Immortal<Messages> the_messages;
Messages& messages() noexcept {
  return the_messages.get();
}

/// With the lock held.
void note_due() noexcept {
  if (any_due.exchange(true, std::memory_order_relaxed)) return;
  want_deliveries();
}

bool is_in_slab(const Arrived& message) noexcept {
  return message.ring != nullptr && message.header.category() == Category::medium &&
         message.header.slab() != no_slab;
}

}  // namespace

SetAsideMessage::SetAsideMessage(const Arrived& message, std::uint32_t message_number,
                                 bool keeps_slab_in_use)
    : arrived(message), number(message_number), keeps_slab(keeps_slab_in_use) {
  std::memcpy(args, message.args, message.header.arg_count() * sizeof *message.args);
  arrived.args = args;
  if (message.header.category() != Category::medium || keeps_slab) return;
  payload = std::make_unique_for_overwrite<std::byte[]>(message.size);
  if (message.size != 0) std::memcpy(payload.get(), message.payload, message.size);
  arrived.payload = payload.get();
}

SetAside::SetAside(gex_EP_t endpoint) noexcept {
  const OptionalGuard guard(messages().lock, true);
  messages().endpoint = endpoint;
}

SetAside::~SetAside() {
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  all.endpoint = GEX_EP_INVALID;
  if (all.list.empty()) return;
  std::move(all.list.begin(), all.list.end(), std::back_inserter(all.due));
  all.list.clear();
  note_due();
}

bool set_aside(gex_EP_t endpoint, const Arrived& message, std::uint32_t number) noexcept {
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  if (all.endpoint != endpoint) return false;
  all.list.push_back(
      std::make_unique<SetAsideMessage>(message, number, /*keeps_slab_in_use=*/false));
  return true;
}

std::size_t room_to_leave() noexcept {
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  if (all.due.size() >= max_left || all.due_bytes >= max_left_bytes) return 0;
  return max_left - all.due.size();
}

void leave_to_client(const Arrived& message, std::uint32_t number) noexcept {
  auto left = std::make_unique<SetAsideMessage>(message, number, is_in_slab(message));
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  if (left->payload != nullptr) all.due_bytes += message.size;
  all.due.push_back(std::move(left));
  note_due();
}

bool any_set_aside_due() noexcept {
  return any_due.load(std::memory_order_relaxed);
}

std::vector<std::unique_ptr<SetAsideMessage>> take_set_aside() noexcept {
  Messages& all = messages();
  std::vector<std::unique_ptr<SetAsideMessage>> due;
  const OptionalGuard guard(all.lock, true);
  if (!any_due.load(std::memory_order_relaxed)) return due;
  due.swap(all.due);
  all.due_bytes = 0;
  any_due.store(false, std::memory_order_relaxed);
  unwant_deliveries();
  return due;
}

}  // namespace gex::am
