#pragma once
// Cells of the rings to the members of the neighborhood: claimed where there is room for a message,
// published once it is written, and the room that comes back when a request has ended.
//
// The sender of a pair ring keeps count of its room, and looks for more after each batch. A ring
// that all members send to is claimed cell by cell, and a process counts the requests that it has
// open. In both a reply has its cell reserved.

#include <atomic>
#include <cstdint>

#include "am/links.h"
#include "am/message.h"
#include "am/rings.h"
#include "base/biased_lock.h"
#include "shm/neighborhood.h"

namespace gex::am {

/// A cell that may be written, then published.
struct Claim {
  shm::Cell* cell;
  shm::Slot* slot;
  std::uint32_t sequence;
  bool begins_batch = false;  ///< the first after the room was read

  /// Finds the cell and slot of its sequence in a ring.
  void set_cell(const Outgoing& out, const shm::RingShape& shape) noexcept {
    const std::uint32_t index = sequence & (shape.cells - 1);
    cell = &out.cells[index];
    slot = &out.slots[index];
  }
};

namespace detail {
/// Reads how much room there is in a pair ring, of which it takes a batch; false if there is none
/// now.
bool find_room(Link& link, shm::Direction direction) noexcept;
bool claim_shared(Outgoing& out, shm::Direction direction, Claim& claim) noexcept;
void report_owed() noexcept;
/// Shared rings: true while there is something to be reported.
extern std::atomic<bool> any_owed;
}  // namespace detail

/// Start-up only.
void set_up_cells();

/// Claims a cell for a request or a reply; false if there is no room now. With pair rings in PAR
/// the caller holds the direction's lock until it has published.
inline bool claim_cell(Link& link, shm::Direction direction, Claim& claim) noexcept {
  Outgoing& out = link.out[direction];
  if (!links().pairs()) [[unlikely]]
    return detail::claim_shared(out, direction, claim);
  if (!out.producer.has_room()) {
    if (!detail::find_room(link, direction)) return false;
    claim.begins_batch = true;
  }
  claim.sequence = out.producer.next();
  claim.set_cell(out, shm::pair_shape);
  return true;
}
/// Publishes it; `what` as in MessageHeader.
void publish_cell(Outgoing& out, const Claim& claim, MessageWhat what) noexcept;

/// The mark of the ring was set when a message had been published in it: threads of the member may
/// sleep. Returns 0, with which calls end that have sent a message.
[[gnu::cold, gnu::noinline]] int wake_consumer(Link& link, shm::Direction direction) noexcept;

/// The request that arrived over `in` from `source` has ended without a reply. `hold`: how the
/// calling thread held the ring's lock when it took the message; none: it did not, or has no lock.
void request_unanswered(Incoming& in, BiasedLock::Hold hold, gex_Rank_t source) noexcept;
/// Shared rings: passes on what `request_unanswered` has counted.
inline void report_unanswered() noexcept {
  if (!links().pairs() && detail::any_owed.load(std::memory_order_relaxed)) detail::report_owed();
}

}  // namespace gex::am
