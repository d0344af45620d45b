#include "am/to_neighbor.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "am/arrived.h"
#include "am/cell_layout.h"
#include "am/cells.h"
#include "am/copy.h"
#include "am/internal.h"
#include "am/kept_outbound.h"
#include "am/observed.h"
#include "base/error.h"
#include "core/progress.h"
#include "core/published.h"
#include "observe/trace.h"

namespace gex::am {

std::atomic<bool> any_kept{false};

namespace {

gex_Rank_t jobrank_of(const Link& link) noexcept {
  return process().neighborhood.members()[link.member];
}

/// Writes the message to a claimed cell and its slot.
void write(const Claim& claim, const Outbound& message) noexcept {
  shm::Cell& cell = *claim.cell;
  cell.source = gex_proc_.jobrank;
  cell.size_and_slab = message.size_and_slab();
  std::uint32_t* words = cell.words;
  const Category category = message.what.category();
  const unsigned args = message.what.arg_count();
  if (category == Category::long_message) {
    const std::uint64_t prefix[2] = {reinterpret_cast<std::uint64_t>(message.destination),
                                     message.size};
    std::memcpy(words, prefix, sizeof prefix);
    words += long_prefix_words;
  }
  const unsigned in_cell = args_in_cell(category);
  if (args <= in_cell) {
    copy_chunks(words, message.args, args * sizeof *message.args);
  } else {
    copy_chunks(words, message.args, in_cell * sizeof *message.args);
    copy_chunks(claim.slot->bytes, message.args + in_cell, (args - in_cell) * sizeof *message.args);
  }
  if (category != Category::medium || message.slab != no_slab || message.size == 0) return;
  std::byte* to = place_of(args, message.size) == Place::cell
                      ? reinterpret_cast<std::byte*>(cell.words) + round_up_16(args * 4)
                      : claim.slot->bytes + surplus_bytes(Category::medium, args);
  std::memcpy(to, message.payload, message.size);
}

/// Copies a long message's payload to its destination, which is mapped here.
void copy_to_destination(const Link& link, const Outbound& message) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(message.destination);
  std::byte* const to = message.segment->mapped_at(address, message.size);
  if (to == nullptr) [[unlikely]]
    fatal("a long message of %zu bytes to %p does not lie in the bound segment of rank %u",
          message.size, message.destination, jobrank_of(link));
  std::memcpy(to, message.payload, message.size);
}

bool to_be_placed(const Outbound& message) noexcept {
  return message.what.category() == Category::long_message && message.size != 0 && !message.placed;
}
bool needs_slab(const Outbound& message) noexcept {
  return message.what.category() == Category::medium && message.slab == no_slab &&
         place_of(message.what.arg_count(), message.size) == Place::slab;
}

enum class Sent {
  no,
  yes,
  begins_batch  ///< and the sender polls now, if it may
};

/// Claims a cell for a message that needs no slab, writes and publishes it. The payload of an
/// immediate long message is placed once a cell is certain: nothing may be touched without
/// one.
[[gnu::always_inline]] inline Sent send_cell(Link& link, shm::Direction direction,
                                             const Outbound& message) noexcept {
  Claim claim;
  if (!claim_cell(link, direction, claim)) return Sent::no;
  if (to_be_placed(message)) copy_to_destination(link, message);
  write(claim, message);
  if (under_tsan && message.slab != no_slab) link.slabs->hand_over(message.slab);
  const Tick at = traced() ? ticks() : 0;
  publish_cell(link.out[direction], claim, message.what);
  if (shm::mark_of(link.out[direction].cells).is_set()) [[unlikely]]
    wake_consumer(link, direction);
  if (link.bell != nullptr && !runs_client_code(message.what.handler())) link.bell->ring();
  if (traced()) [[unlikely]]
    record_sent(jobrank_of(link), message, number_in_lane(link.lane, claim.sequence),
                links().pairs() ? 0 : trace::by_shared_ring, at);
  return claim.begins_batch ? Sent::begins_batch : Sent::yes;
}

/// As send_cell, of a message whose payload travels in a slab.
[[gnu::noinline]] Sent send_in_slab(Link& link, shm::Direction direction,
                                    const Outbound& message) noexcept {
  Outbound in_slab = message;
  in_slab.slab = link.slabs->acquire(direction, message.size, link.member);
  if (in_slab.slab == no_slab) return Sent::no;
  std::memcpy(link.slabs->address(in_slab.slab), message.payload, message.size);
  const Sent sent = send_cell(link, direction, in_slab);
  if (sent == Sent::no) link.slabs->release(in_slab.slab);
  return sent;
}

Sent try_send(Link& link, const Outbound& message, bool immediate) noexcept;

/// Informs a member that requests to it come in a further lane.
struct LaneOpened {
  std::uint32_t lane;
};
constinit Internal lane_opened{"further lane"};

void on_lane_opened(gex_Token_t token, const LaneOpened& opened, void*, std::size_t) noexcept {
  links().expect_requests(opened.lane, token->header.source);
}

/// Opens a link for requests; false if there is no room now to inform the member. The caller holds
/// the lock of the link's ring of requests.
[[gnu::cold]] bool open_link(Link& link) noexcept {
  Links& all = links();
  all.expect_replies(link);
  const Packed<LaneOpened> opened({link.lane});
  link.open = try_send(all.first().links[link.member], opened.message_for(lane_opened),
                       /*immediate=*/true) != Sent::no;
  return link.open;
}

/// Sends if there is room now; if not, nothing is done.
Sent try_send(Link& link, const Outbound& message, bool immediate) noexcept {
  const shm::Direction direction = message.what.is_reply() ? shm::replies : shm::requests;
  // In PAR the lock of a pair ring makes this thread its one producer.
  const bool is_locked = links().threaded() && links().pairs();
  BiasedLock& lock = link.out[direction].lock;
  BiasedLock::Hold hold;
  if (is_locked) {
    hold = immediate ? lock.try_lock(thread_number()) : lock.lock(thread_number());
    if (!hold) return Sent::no;
  }
  const struct Unlock {
    BiasedLock* lock;
    BiasedLock::Hold hold;
    ~Unlock() {
      if (lock != nullptr) lock->unlock(hold);
    }
  } unlock{is_locked ? &lock : nullptr, hold};

  if (direction == shm::requests && !link.open && !open_link(link)) return Sent::no;
  return needs_slab(message) ? send_in_slab(link, direction, message)
                             : send_cell(link, direction, message);
}

/// Places a long payload before a cell is claimed, so that no other message waits behind the copy.
Outbound with_payload_placed(const Link& link, const Outbound& message) noexcept {
  copy_to_destination(link, message);
  Outbound placed = message;
  placed.placed = true;
  return placed;
}

[[gnu::noinline]] int send_when_there_is_room(Link& link, const Outbound& message) noexcept {
  Sent sent;
  wait_until([&]() noexcept { return op_of(jobrank_of(link), message); },
             [&]() noexcept { return (sent = try_send(link, message, false)) != Sent::no; },
             WaitCause::room);
  if (sent == Sent::begins_batch) poll();
  return 0;
}

}  // namespace

void receive_lanes() noexcept {
  register_request<on_lane_opened>(lane_opened);
}

int send_request_to_neighbor(Link& link, const Outbound& message, bool immediate) noexcept {
  if (immediate) return try_send(link, message, true) == Sent::no ? 1 : 0;
  if (to_be_placed(message)) [[unlikely]]
    return send_when_there_is_room(link, with_payload_placed(link, message));
  return send_when_there_is_room(link, message);
}

namespace {

struct KeptReply {
  KeptReply(Link& to, const Outbound& message) : link(to), reply(message) {}
  Link& link;
  KeptOutbound reply;
};

struct KeptReplies {
  SpinLock lock;
  std::vector<std::unique_ptr<KeptReply>> list;
};
Immortal<KeptReplies> the_kept_replies;
KeptReplies& kept_replies() noexcept {
  return the_kept_replies.get();
}

[[gnu::cold]] void keep(Link& link, const Outbound& message) noexcept {
  auto kept = std::make_unique<KeptReply>(link, message);
  KeptReplies& all = kept_replies();
  const OptionalGuard guard(all.lock, true);
  all.list.push_back(std::move(kept));
  any_kept.store(true, std::memory_order_relaxed);
  want_deliveries();
}

}  // namespace

void send_reply_to_neighbor(Link& link, const Outbound& message) noexcept {
  if (to_be_placed(message)) [[unlikely]]
    return send_reply_to_neighbor(link, with_payload_placed(link, message));
  if (try_send(link, message, false) != Sent::no) return;
  if (needs_slab(message)) return keep(link, message);
  // The reservation makes room certain; with shared rings a claim may only lose a race.
  Waiter waiter;
  for (unsigned turns = 0; try_send(link, message, false) == Sent::no; ++turns) {
    if (turns > 100'000'000U)
      fatal("no room for a reply to rank %u although it was reserved", jobrank_of(link));
    waiter.wait();
  }
}

bool flush_kept_replies() noexcept {
  KeptReplies& all = kept_replies();
  std::vector<std::unique_ptr<KeptReply>> mine;
  {
    const OptionalGuard guard(all.lock, true);
    mine.swap(all.list);
    any_kept.store(false, std::memory_order_relaxed);
  }
  bool sent = false;
  std::erase_if(mine, [&](const std::unique_ptr<KeptReply>& kept) {
    const bool is_sent = try_send(kept->link, kept->reply.message, false) != Sent::no;
    sent = sent || is_sent;
    if (is_sent) unwant_deliveries();
    return is_sent;
  });
  if (!mine.empty()) {
    const OptionalGuard guard(all.lock, true);
    for (auto& kept : mine) all.list.push_back(std::move(kept));
    any_kept.store(true, std::memory_order_relaxed);
    // It may have found none kept meanwhile.
    wake_progress_thread();
  }
  return sent;
}

}  // namespace gex::am
