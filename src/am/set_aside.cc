#include "am/set_aside.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"

namespace gex::am {

namespace {

struct Messages {
  SpinLock lock;
  std::vector<std::unique_ptr<SetAsideMessage>> list;
  gex_EP_t endpoint = GEX_EP_INVALID;
};
/// Whether the list is to be delivered; changes under its lock.
std::atomic<bool> to_deliver{false};
Immortal<Messages> the_messages;
Messages& messages() noexcept {
  return the_messages.get();
}

}  // namespace

SetAside::SetAside(gex_EP_t endpoint) noexcept {
  const OptionalGuard guard(messages().lock, true);
  messages().endpoint = endpoint;
}

SetAside::~SetAside() {
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  all.endpoint = GEX_EP_INVALID;
  if (all.list.empty()) return;
  to_deliver.store(true, std::memory_order_relaxed);
  want_deliveries();
}

bool set_aside(gex_EP_t endpoint, const Arrived& message, std::uint32_t number) noexcept {
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  if (all.endpoint != endpoint) return false;
  auto kept = std::make_unique<SetAsideMessage>();
  kept->arrived = message;
  kept->number = number;
  std::memcpy(kept->args, message.args, message.header.arg_count() * sizeof *message.args);
  kept->arrived.args = kept->args;
  if (message.header.category() == Category::medium) {
    kept->payload = std::make_unique_for_overwrite<std::byte[]>(message.size);
    if (message.size != 0) std::memcpy(kept->payload.get(), message.payload, message.size);
    kept->arrived.payload = kept->payload.get();
  }
  all.list.push_back(std::move(kept));
  return true;
}

bool any_set_aside_due() noexcept {
  return to_deliver.load(std::memory_order_relaxed);
}

std::vector<std::unique_ptr<SetAsideMessage>> take_set_aside() noexcept {
  Messages& all = messages();
  std::vector<std::unique_ptr<SetAsideMessage>> due;
  const OptionalGuard guard(all.lock, true);
  if (!to_deliver.load(std::memory_order_relaxed)) return due;
  due.swap(all.list);
  to_deliver.store(false, std::memory_order_relaxed);
  unwant_deliveries();
  return due;
}

}  // namespace gex::am
