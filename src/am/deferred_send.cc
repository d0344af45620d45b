#include "am/deferred_send.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"

namespace gex::am {

namespace {

struct Queue {
  SpinLock lock;
  std::vector<std::unique_ptr<DeferredSend>> sends;
};
Immortal<Queue> the_queue;

bool advance_deferred() noexcept {
  Queue& queue = the_queue.get();
  // One thread at a time: the others' polls have nothing to add.
  if (!queue.lock.try_lock()) return false;
  const std::size_t gone = std::erase_if(queue.sends, [](auto& send) { return send->advance(); });
  queue.lock.unlock();
  for (std::size_t i = 0; i < gone; ++i) unwant_polls();
  return gone != 0;
}

}  // namespace

void defer(std::unique_ptr<DeferredSend> send) noexcept {
  Queue& queue = the_queue.get();
  const OptionalGuard guard(queue.lock, true);
  queue.sends.push_back(std::move(send));
  want_polls();
}

void start_deferred_sends() {
  register_poller(advance_deferred);
}

}  // namespace gex::am
