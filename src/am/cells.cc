#include "am/cells.h"

#include <atomic>
#include <vector>

#include "am/cell_layout.h"
#include "base/immortal.h"
#include "base/tsan.h"
#include "core/process.h"

namespace gex::am {

std::atomic<bool> detail::any_owed{false};

namespace {

/// Shared rings: requests sent by this process.
std::atomic<std::uint32_t> requests_sent{0};
/// Shared rings: requests that this process must report as ended without a reply, by member.
Immortal<std::vector<std::atomic<std::uint32_t>>> the_owed;
std::vector<std::atomic<std::uint32_t>>& owed() noexcept {
  return the_owed.get();
}

/// After so many messages to a member the sender looks for room again, and polls. A sender that did
/// not poll before it ran out of room would leave its peer's messages where they are until then;
/// the peer, out of room, would take one after the other while it is written, and the two would
/// take turns instead of working at the same time.
constexpr std::uint32_t batch = 32;
static_assert(batch < shm::pair_shape.reply_window);

/// Takes the cells of a batch from the core that has read them, all at once. Otherwise the sender's
/// stores would wait for one after the other: they leave the store buffer in order, and so do those
/// of the client between two messages.
void fetch_for_writing(const Outgoing& out) noexcept {
  constexpr std::uint32_t mask = shm::pair_shape.cells - 1;
  const std::uint32_t first = out.producer.next();
  // As much of each slot as the last message has used.
  const shm::Cell& last = out.cells[(first - 1) & mask];
  const std::size_t used =
      used_of_slot({{static_cast<std::uint32_t>(last.ready.load(std::memory_order_relaxed) >> 32)},
                    0,
                    last.size_and_slab});
  for (std::uint32_t i = 0; i < out.producer.room(); ++i) {
    const std::uint32_t index = (first + i) & mask;
    prefetch_for_write(&out.cells[index]);
    for (std::size_t at = 0; at < used; at += cache_line)
      prefetch_for_write(out.slots[index].bytes + at);
  }
}

bool claim_request_credit(Claim& claim) noexcept {
  const std::uint32_t sent = requests_sent.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t answered = links().first().incoming[shm::replies].taken();
  const Process& self = process();
  const std::uint32_t unanswered = self.neighborhood.unanswered_of(self.neighborhood.local_index())
                                       .load(std::memory_order_relaxed);
  if (sent - answered - unanswered < shm::shared_shape.reply_window) {
    claim.begins_batch = sent % batch == 0;
    return true;
  }
  requests_sent.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

}  // namespace

void set_up_cells() {
  owed() = std::vector<std::atomic<std::uint32_t>>(process().neighborhood.size());
}

int wake_consumer(Link& link, shm::Direction direction) noexcept {
  shm::mark_of(link.out[direction].cells).take();
  link.waiters->ring();
  return 0;
}

bool detail::find_room(Link& link, shm::Direction direction) noexcept {
  Outgoing& out = link.out[direction];
  auto& producer = out.producer;
  const bool found = direction == shm::requests ? producer.find_request_room(link.replies->taken())
                                                : producer.find_reply_room();
  if (!found) return false;
  // Where nothing is under way the member waits for each message, and reads its cell ahead of it.
  const bool is_stream =
      producer.room() <
      (direction == shm::requests ? shm::pair_shape.reply_window : shm::pair_shape.cells);
  producer.use_at_most(batch);
  if (is_stream) fetch_for_writing(out);
  return true;
}

bool detail::claim_shared(Outgoing& out, shm::Direction direction, Claim& claim) noexcept {
  if (direction == shm::requests && !claim_request_credit(claim)) return false;
  if (!shm::claim_shared(*out.producer.control(), shm::shared_shape, claim.sequence)) {
    if (direction == shm::requests) requests_sent.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  claim.set_cell(out, shm::shared_shape);
  order_through_peer_ends(&claim.cell->ready);
  return true;
}

void publish_cell(Outgoing& out, const Claim& claim, MessageWhat what) noexcept {
  if (links().pairs()) {
    out.producer.publish(claim.cell->ready, what.word);
    return;
  }
  // Another thread of this process may claim the cell next, when its consumer has given it back.
  order_through_peer_begins(&claim.cell->ready);
  shm::publish_shared<shm::StdAtomics>(claim.cell->ready, claim.sequence, what.word);
}

void request_unanswered(Incoming& in, BiasedLock::Hold hold, gex_Rank_t source) noexcept {
  if (links().pairs()) [[likely]] {
    // Relaxed, all of it: the count carries no data; the requester only learns that no reply will
    // come.
    const bool threaded = links().threaded();
    const std::uint32_t count = !threaded ? ++in.unanswered_of_home[0]
                                : hold.is_biased()
                                    ? ++in.unanswered_of_home[hold.place()]
                                    : in.unanswered.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!shm::pair_shape.is_published(count)) return;
    if (threaded)
      in.control->unanswered.fetch_add(shm::pair_shape.release_lag, std::memory_order_relaxed);
    else
      in.control->unanswered.store(count, std::memory_order_relaxed);
    in.to_source->waiters->ring();
    return;
  }
  const std::uint32_t member = process().neighborhood.local_index_of(source);
  shm::owe<shm::StdAtomics>(owed()[member], detail::any_owed);
}

void detail::report_owed() noexcept {
  shm::report_owed<shm::StdAtomics>(
      any_owed, static_cast<std::uint32_t>(owed().size()),
      [](std::uint32_t member) -> std::atomic<std::uint32_t>& { return owed()[member]; },
      [](std::uint32_t member, std::uint32_t count) {
        const shm::Neighborhood& neighborhood = process().neighborhood;
        neighborhood.unanswered_of(member).fetch_add(count, std::memory_order_relaxed);
        neighborhood.waiters_bell(member).ring();
      });
}

}  // namespace gex::am
