#pragma once
// The rings between this process and a member of its neighborhood, as this process has them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/slabs.h"
#include "base/biased_lock.h"
#include "base/cache_line.h"
#include "core/progress.h"
#include "shm/neighborhood.h"

namespace gex::am {

struct Link;

/// The ring from which one kind of message arrives: from one member, or from all of them.
struct alignas(cache_line) Incoming {
  gex_Inbox_* inbox = nullptr;  ///< what polls read of it
  shm::Consumer<shm::StdAtomics> consumer;
  shm::Cell* cells = nullptr;
  BiasedLock lock;  ///< one poller claims; held only until the message is copied out

  alignas(cache_line) Link* to_source = nullptr;  ///< pair rings: for replies
  std::uint32_t source = 0;                       ///< pair rings: jobrank of the sender
  bool fetches_slots = false;                     ///< the last message had something in its slot
  std::uint8_t lane = 0;
  const shm::Slot* slots = nullptr;
  shm::Control* control = nullptr;
  /// Pair rings: requests that ended without a reply, published now and then: of those taken by
  /// each home thread of the lock, which alone writes its count, and by others.
  std::uint32_t unanswered_of_home[BiasedLock::places] = {};
  std::atomic<std::uint32_t> unanswered{0};

  /// The index of the next message's cell and slot.
  std::uint32_t next_index() const noexcept {
    return consumer.next() & (consumer.shape().cells - 1);
  }
  /// Messages taken so far; any thread.
  std::uint32_t taken() const noexcept {
    return __atomic_load_n(&inbox->arrival, __ATOMIC_RELAXED) - 1;
  }
  /// Returns true if a message is there, for a thread that is about to sleep: false only if none
  /// is.
  bool may_hold_message() const noexcept {
    const std::uint32_t count = taken();
    return shm::may_hold_message<shm::StdAtomics>(cells[count & (consumer.shape().cells - 1)].ready,
                                                  count);
  }
  /// Shows polls where the next message will be.
  void show_next() noexcept {
    const shm::Cell& cell = cells[next_index()];
    const void* fetch = fetches_slots ? static_cast<const void*>(&slots[next_index()]) : &cell;
    __atomic_store_n(&inbox->fetch, fetch, __ATOMIC_RELAXED);
    __atomic_store_n(&inbox->ready, reinterpret_cast<const std::uint64_t*>(&cell.ready),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&inbox->arrival, consumer.next() + 1, __ATOMIC_RELAXED);
  }
};
/// The messages that these counts have not published leave room for requests.
static_assert((BiasedLock::places + 1) * (shm::pair_shape.release_lag - 1) <
              shm::pair_shape.reply_window);
static_assert(sizeof(Incoming) == 2 * cache_line && offsetof(Incoming, to_source) == cache_line);

/// The ring by which one kind of message goes to a member.
struct alignas(cache_line) Outgoing {
  shm::PairProducer<shm::StdAtomics> producer;  ///< pair rings only
  BiasedLock lock;                              ///< pair rings in PAR: one producer at a time
  shm::Cell* cells = nullptr;
  shm::Slot* slots = nullptr;
};
static_assert(sizeof(Outgoing) == cache_line);

/// The rings to one member in one lane.
struct Link {
  Outgoing out[2];              ///< by shm::Direction
  Incoming* replies = nullptr;  ///< pair rings: where that member's replies arrive
  Slabs* slabs = nullptr;       ///< of this process in this lane
  std::uint32_t member = 0;     ///< local index
  std::uint32_t lane = 0;
  shm::Doorbell* bell = nullptr;     ///< of the member's progress thread; null: it has none
  shm::Doorbell* waiters = nullptr;  ///< the bell of the member's threads that wait
  /// Requests may be sent: the member polls for them, or will. In a lane other than the first it
  /// changes under the lock of the ring of requests.
  bool open = false;
};

}  // namespace gex::am
