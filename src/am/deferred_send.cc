#include "am/deferred_send.h"

#include <cstddef>
#include <iterator>
#include <mutex>
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
  bool is_advanced = false;  ///< by some thread, which has taken those that there were
};
Immortal<Queue> the_queue;

bool advance_deferred() noexcept {
  Queue& queue = the_queue.get();
  std::vector<std::unique_ptr<DeferredSend>> taken;
  {
    // One thread at a time: the others' polls have nothing to add.
    if (!queue.lock.try_lock()) return false;
    const std::lock_guard guard(queue.lock, std::adopt_lock);
    if (queue.is_advanced) return false;
    queue.is_advanced = true;
    taken.swap(queue.sends);
  }
  const std::size_t gone = std::erase_if(taken, [](auto& send) { return send->advance(); });
  {
    const OptionalGuard guard(queue.lock, true);
    // What was deferred meanwhile comes behind.
    taken.insert(taken.end(), std::make_move_iterator(queue.sends.begin()),
                 std::make_move_iterator(queue.sends.end()));
    queue.sends.swap(taken);
    queue.is_advanced = false;
  }
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
