#pragma once
// Links: the rings between this process and each member of its neighborhood.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/message.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/process.h"
#include "core/progress.h"
#include "shm/neighborhood.h"

namespace gex::am {

struct Link;

/// The ring from which one kind of message arrives: from one member, or from all of them.
struct alignas(cache_line) Incoming {
  gex_Inbox_* inbox = nullptr;  ///< what polls read of it
  shm::Consumer<shm::StdAtomics> consumer;
  const shm::Cell* cells = nullptr;
  Link* to_source = nullptr;   ///< pair rings: the way back
  std::uint32_t source = 0;    ///< pair rings: jobrank of the sender
  bool fetches_slots = false;  ///< the last message had something in its slot
  SpinLock lock;               ///< one poller claims; held only until the message is copied out

  alignas(cache_line) const shm::Slot* slots = nullptr;
  shm::Control* control = nullptr;
  /// Pair rings: requests that ended without a reply, published now and then.
  std::atomic<std::uint32_t> unanswered{0};

  std::uint32_t place() const noexcept { return consumer.next() & (consumer.shape().cells - 1); }
  /// Messages taken so far; any thread.
  std::uint32_t taken() const noexcept {
    return __atomic_load_n(&inbox->arrival, __ATOMIC_RELAXED) - 1;
  }
  /// Shows polls where the next message will be.
  void show_next() noexcept {
    const shm::Cell& cell = cells[place()];
    const void* fetch = fetches_slots ? static_cast<const void*>(&slots[place()]) : &cell;
    __atomic_store_n(&inbox->fetch, fetch, __ATOMIC_RELAXED);
    __atomic_store_n(&inbox->ready, reinterpret_cast<const std::uint64_t*>(&cell.ready),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&inbox->arrival, consumer.next() + 1, __ATOMIC_RELAXED);
  }
};
static_assert(sizeof(Incoming) == 2 * cache_line && offsetof(Incoming, slots) == cache_line);

/// The ring by which one kind of message goes to a member.
struct alignas(cache_line) Outgoing {
  shm::PairProducer<shm::StdAtomics> producer;  ///< pair rings only
  SpinLock lock;                                ///< pair rings in PAR: one producer at a time
  shm::Cell* cells = nullptr;
  shm::Slot* slots = nullptr;
  shm::Control* control = nullptr;
};
static_assert(sizeof(Outgoing) == cache_line);

/// The way to one member.
struct Link {
  Outgoing out[2];              ///< by shm::Direction
  Incoming* answers = nullptr;  ///< pair rings: where that member's replies arrive
  std::uint32_t member = 0;     ///< local index
};

/// A cell that may be written, then published.
struct Claim {
  shm::Cell* cell;
  shm::Slot* slot;
  std::uint32_t sequence;
};

class Links {
 public:
  /// Start-up only, after the neighborhood is formed.
  void set_up();

  /// The link to another process, or null if that is not in the neighborhood. There is none to this
  /// process (to_self.h).
  Link* to(gex_Rank_t jobrank) noexcept {
    return jobrank < by_jobrank_.size() ? by_jobrank_[jobrank] : nullptr;
  }
  /// The same for a rank of the job, and null when rings are shared.
  Link* pair_to(gex_Rank_t jobrank) noexcept { return pair_by_jobrank_[jobrank]; }

  bool pairs() const noexcept { return pairs_; }
  bool threaded() const noexcept { return threaded_; }

  /// Asks the other side for room in a pair ring; false if there is none now.
  bool find_room(Link& link, shm::Direction direction) noexcept;

  /// Claims a cell for a request or a reply; false if there is no room now. With pair rings in PAR
  /// the caller holds the direction's lock until it has published.
  bool claim(Link& link, shm::Direction direction, Claim& claim) noexcept;
  /// Publishes it; `what` as in MessageHeader.
  void publish(Outgoing& out, const Claim& claim, std::uint32_t what) noexcept;

  /// The request that arrived over `ring` from `source` has ended without a reply.
  void request_unanswered(Incoming& ring, gex_Rank_t source) noexcept;

  /// Delivers arrived messages of both channels; see Deliverer.
  bool poll(std::uint32_t quiet) noexcept;

 private:
  bool drain(Incoming& in) noexcept;
  bool take_one(Incoming& in) noexcept;
  bool take_large(Incoming& in, MessageHeader header) noexcept;
  void let_go(Incoming& in) noexcept;
  void flush_unanswered() noexcept;
  bool claim_request_credit() noexcept;
  Incoming& incoming(shm::Direction direction, std::uint32_t member) noexcept;

  std::vector<Link*> pair_by_jobrank_;  ///< what `pair_to` answers
  std::vector<Link*> by_jobrank_;       ///< what `to` does
  std::unique_ptr<Link[]> links_;       ///< by local index
  std::uint32_t count_ = 0;
  bool pairs_ = false;
  bool threaded_ = false;
  /// The rings of incoming messages and, in the same order, what polls read of them. A process has
  /// no pair ring to itself.
  std::unique_ptr<Incoming[]> incoming_;
  std::unique_ptr<gex_Inbox_[]> inboxes_;
  /// Shared rings: requests sent by this process, and the account of those that it must report as
  /// ended without a reply, by member.
  std::atomic<std::uint32_t> requests_sent_{0};
  std::vector<std::atomic<std::uint32_t>> owed_;
  std::atomic<bool> owes_{false};
};

extern Immortal<Links> the_links;
inline Links& links() noexcept {
  return the_links.get();
}

}  // namespace gex::am
