#include "am/set_aside.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "am/copy.h"
#include "am/deliver.h"
#include "am/links.h"
#include "am/network.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"

namespace gex::am {

namespace {

struct Message {
  Arrived arrived;
  alignas(16) gex_AM_Arg_t args[max_args];
  std::unique_ptr<std::byte[]> payload;
};

struct Messages {
  SpinLock lock;
  std::vector<std::unique_ptr<Message>> list;
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

bool set_aside(gex_EP_t endpoint, const Arrived& message) noexcept {
  Messages& all = messages();
  const OptionalGuard guard(all.lock, true);
  if (all.endpoint != endpoint) return false;
  auto kept = std::make_unique<Message>();
  kept->arrived = message;
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

bool deliver_set_aside() noexcept {
  Messages& all = messages();
  if (!to_deliver.load(std::memory_order_relaxed)) return false;
  std::vector<std::unique_ptr<Message>> mine;
  {
    const OptionalGuard guard(all.lock, true);
    if (!to_deliver.load(std::memory_order_relaxed)) return false;
    mine.swap(all.list);
    to_deliver.store(false, std::memory_order_relaxed);
    unwant_deliveries();
  }
  for (const std::unique_ptr<Message>& message : mine) {
    const Arrived& arrived = message->arrived;
    if (!run_handler<Sender::anybody>(arrived)) continue;
    if (arrived.ring != nullptr)
      links().request_unanswered(*arrived.ring, arrived.header.source);
    else
      network_request_unanswered(arrived.header.source);
  }
  return true;
}

}  // namespace gex::am
