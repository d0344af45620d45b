#include "core/network_watch.h"

#include <algorithm>
#include <atomic>

#include "base/cancellation.h"
#include "base/immortal.h"
#include "core/process.h"
#include "shm/doorbell.h"

namespace gex {

namespace {

static_assert(net::max_wait_descriptors < os::max_slept_on, "and one for the bell");

struct Watch {
  const net::Conduit* conduit = nullptr;  ///< null: it cannot wake, or no message comes over it
  bool is_needed = false;                 ///< messages come over a network
  bool is_alone = false;                  ///< no process or thread rings
  os::WakeSocket socket;
  std::atomic<bool> taken{false};
};
Immortal<Watch> the_watch;

void wake_elsewhere(std::uint32_t place) noexcept {
  the_watch.get().socket.wake(place);
}

}  // namespace

void set_up_network_watch() noexcept {
  const Process& self = process();
  Watch& watch = the_watch.get();
  watch.is_needed = self.conduit != nullptr && self.neighborhood.size() < self.job->size();
  watch.is_alone = !self.threaded && self.neighborhood.size() == 1;
  if (!watch.is_needed) return;
  // Also a rank whose network wakes no thread: it rings for its neighbors.
  if (!watch.is_alone && watch.socket.open()) {
    self.neighborhood.own_waiters_bell().set_place(watch.socket.name());
    shm::StdBell::waker = wake_elsewhere;
  }
  if (self.conduit->prepare_wait == nullptr || !(watch.is_alone || watch.socket.is_open())) return;
  int descriptors[net::max_wait_descriptors];
  std::uint64_t limit_ns = 0;
  if (self.conduit->prepare_wait(descriptors, net::max_wait_descriptors, &limit_ns) !=
      net::never_wakes)
    watch.conduit = self.conduit;
}

NetworkWake network_wake() noexcept {
  const Watch& watch = the_watch.get();
  if (!watch.is_needed) return NetworkWake::unneeded;
  return watch.conduit != nullptr ? NetworkWake::by_descriptors : NetworkWake::none;
}

NetworkWatch::NetworkWatch() noexcept {
  Watch& watch = the_watch.get();
  // Acquire and release: what the thread that had it did with the network came before.
  is_held_ = watch.conduit != nullptr && !watch.taken.load(std::memory_order_relaxed) &&
             !watch.taken.exchange(true, std::memory_order_acquire);
}

NetworkWatch::~NetworkWatch() {
  if (!is_held_) return;
  Watch& watch = the_watch.get();
  watch.taken.store(false, std::memory_order_release);
  if (!watch.is_alone) process().neighborhood.own_waiters_bell().ring_for_others();
}

bool NetworkWatch::may_sleep(std::uint64_t& limit_ns) noexcept {
  const Watch& watch = the_watch.get();
  if (watch.conduit == nullptr) return true;
  if (!is_held_) return watch.taken.load(std::memory_order_relaxed);
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  const std::int32_t count =
      watch.conduit->prepare_wait(descriptors_.data(), net::max_wait_descriptors, &limit_ns);
  if (count < 0 || limit_ns == 0) return false;
  count_ = static_cast<std::uint32_t>(count);
  if (!watch.is_alone) descriptors_[count_++] = watch.socket.descriptor();
  return true;
}

void NetworkWatch::sleep(std::uint64_t limit_ns) noexcept {
  Watch& watch = the_watch.get();
  os::sleep_on({descriptors_.data(), count_}, limit_ns);
  if (!watch.is_alone) watch.socket.drain();
}

}  // namespace gex
