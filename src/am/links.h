#pragma once
// Links: the rings between this process and each member of its neighborhood.

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/process.h"
#include "shm/neighborhood.h"

namespace gex::am {

/// A cell that may be written, then published.
struct Claim {
  shm::Cell* cell = nullptr;
  shm::Slot* slot = nullptr;
  std::uint32_t sequence = 0;
};

/// The ring from which one kind of message arrives: from one member, or from all of them.
struct alignas(cache_line) Incoming {
  shm::Ring ring{};
  shm::Consumer<shm::StdAtomics> consumer;
  shm::Direction direction = shm::requests;
  SpinLock lock;  ///< one poller claims; held only until the message is copied out
  /// Messages consumed, for the requester's account of answered requests.
  std::atomic<std::uint32_t> consumed{0};
  /// Pair rings: requests that ended without a reply, published every `release_lag`.
  std::atomic<std::uint32_t> unanswered{0};
};

/// The way to one member.
struct alignas(cache_line) Link {
  struct Direction {
    shm::Ring ring{};
    shm::PairProducer<shm::StdAtomics> producer;  ///< pair rings only
    SpinLock lock;                                ///< pair rings in PAR: one producer at a time
  };
  Direction out[2];
  Incoming* answers = nullptr;  ///< pair rings: where that member's replies arrive
  std::uint32_t member = 0;     ///< local index
};

class Links {
 public:
  /// Start-up only, after the neighborhood is formed.
  void set_up();

  /// The link to a process, or null if it is not in the neighborhood.
  Link* to(gex_Rank_t jobrank) noexcept {
    const std::uint32_t index = jobrank - first_rank_;
    return index < links_.size() ? &links_[index] : nullptr;
  }

  bool pairs() const noexcept { return pairs_; }
  bool threaded() const noexcept { return threaded_; }

  /// Claims a cell for a request or a reply; false if there is no room now. With pair rings in PAR
  /// the caller holds the direction's lock until it has published.
  bool claim(Link& link, shm::Direction direction, Claim& claim) noexcept {
    Link::Direction& out = link.out[direction];
    if (pairs_) [[likely]] {
      if (!out.producer.has_room() && !find_room(link, direction)) [[unlikely]]
        return false;
      claim.sequence = out.producer.next();
    } else if (!claim_shared_cell(link, direction, claim)) {
      return false;
    }
    const std::uint32_t index = claim.sequence & (out.ring.shape.cells - 1);
    claim.cell = &out.ring.cells[index];
    claim.slot = &out.ring.slots[index];
    return true;
  }

  void publish(Link& link, shm::Direction direction, const Claim& claim) noexcept {
    if (pairs_) [[likely]]
      link.out[direction].producer.publish(claim.cell->ready);
    else
      // Release: the message is whole before it is seen.
      claim.cell->ready.store(claim.sequence + 1, std::memory_order_release);
  }

  /// The request that arrived over `ring` from `source` has ended without a reply.
  void request_unanswered(Incoming& ring, gex_Rank_t source) noexcept;

  /// Delivers arrived messages of both channels. Client context.
  bool poll() noexcept {
    // All rings are looked at before any is drained: the loads do not wait for one another.
    bool arrived = false;
    for (const PollPoint& point : points_) arrived |= point.arrived();
    bool any = false;
    if (arrived) [[unlikely]]
      any = drain_arrived();
    if (!pairs_) [[unlikely]]
      flush_unanswered();
    return any;
  }

 private:
  struct PollPoint {
    std::atomic<const std::atomic<std::uint32_t>*> ready;
    std::atomic<std::uint32_t> expected;

    bool arrived() const noexcept {
      // Relaxed: only a hint; take_one reads the word again with acquire.
      return ready.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) ==
             expected.load(std::memory_order_relaxed);
    }
  };
  bool find_room(Link& link, shm::Direction direction) noexcept;
  bool claim_shared_cell(Link& link, shm::Direction direction, Claim& claim) noexcept;
  bool drain(std::size_t index) noexcept;
  bool drain_arrived() noexcept;
  struct Copy;
  static void copy_out(const shm::Cell& cell, const shm::Slot& slot, Copy& copy) noexcept;
  bool take_one(std::size_t index) noexcept;
  void deliver_with_payload(Incoming& in, Copy& copy) noexcept;
  void flush_unanswered() noexcept;
  bool claim_request_credit() noexcept;

  std::vector<Link> links_;
  std::vector<Incoming> incoming_;
  std::vector<PollPoint> points_;
  gex_Rank_t first_rank_ = 0;
  bool pairs_ = true;
  bool threaded_ = false;
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
