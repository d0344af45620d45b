#include "am/local_send.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "am/slabs.h"
#include "base/error.h"
#include "core/published.h"

namespace gex::am {

std::atomic<bool> any_kept{false};

namespace {

/// Writes the message to a claimed cell and its slot.
void write(const Claim& claim, const Outbound& message) noexcept {
  shm::Cell& cell = *claim.cell;
  cell.header = header_of(message);
  std::uint32_t* words = cell.words;
  if (message.category == Category::long_message) {
    const std::uint64_t prefix[2] = {reinterpret_cast<std::uint64_t>(message.destination),
                                     message.size};
    std::memcpy(words, prefix, sizeof prefix);
    words += shm::long_prefix_words;
  }
  const unsigned in_cell = shm::args_in_cell(message.category);
  if (message.arg_count <= in_cell) [[likely]] {
    copy_args(words, message.args, message.arg_count);
  } else {
    copy_args(words, message.args, in_cell);
    copy_args(claim.slot->bytes, message.args + in_cell, message.arg_count - in_cell);
  }
  if (under_tsan && message.slab != no_slab) slabs().hand_over(message.slab);
  if (message.category != Category::medium || message.slab != no_slab || message.size == 0) return;
  std::byte* to =
      shm::place_of(message.arg_count, message.size) == shm::Place::cell
          ? reinterpret_cast<std::byte*>(cell.words) + shm::round_up_16(message.arg_count * 4)
          : claim.slot->bytes + shm::surplus_bytes(Category::medium, message.arg_count);
  std::memcpy(to, message.payload, message.size);
}

/// Where a long message's destination is mapped here.
void* mapped_destination(const Link& link, const Outbound& message) noexcept {
  const gex_Rank_t jobrank = process().neighborhood.first_rank() + link.member;
  const PublishedSegment& segment = published_segment(jobrank);
  const auto address = reinterpret_cast<std::uintptr_t>(message.destination);
  if (segment.mapped == nullptr || !segment.contains(address, message.size)) [[unlikely]]
    fatal("a long message of %zu bytes to %p does not lie in the bound segment of rank %u",
          message.size, message.destination, jobrank);
  return segment.mapped + (address - segment.owner_address);
}

/// Claims a cell for a message whose payload is in place, writes and publishes it.
bool send_cell(Link& link, shm::Direction direction, const Outbound& message) noexcept {
  Links& all = links();
  Claim claim;
  if (!all.claim(link, direction, claim)) return false;
  write(claim, message);
  all.publish(link, direction, claim);
  return true;
}

shm::Direction direction_of(const Outbound& message) noexcept {
  return message.reply ? shm::replies : shm::requests;
}

bool needs_slab(const Outbound& message) noexcept {
  return message.category == Category::medium && message.slab == no_slab &&
         shm::place_of(message.arg_count, message.size) == shm::Place::slab;
}

}  // namespace

bool try_send_local(Link& link, const Outbound& message, bool immediate) noexcept {
  const shm::Direction direction = direction_of(message);
  Links& all = links();
  // In PAR the lock of a pair ring makes this thread its one producer.
  const bool lock_needed = all.threaded() && all.pairs();
  SpinLock& lock = link.out[direction].lock;
  if (lock_needed && immediate && !lock.try_lock()) return false;
  if (lock_needed && !immediate) lock.lock();
  struct Unlock {
    SpinLock* lock;
    ~Unlock() {
      if (lock != nullptr) lock->unlock();
    }
  } const unlock{lock_needed ? &lock : nullptr};

  if (message.category == Category::long_message && message.size != 0) {
    // The payload is copied to its destination once a cell is certain, and before the cell is
    // published; no other message waits behind the copy but those to the same peer.
    Claim claim;
    if (!all.claim(link, direction, claim)) return false;
    std::memcpy(mapped_destination(link, message), message.payload, message.size);
    write(claim, message);
    all.publish(link, direction, claim);
    return true;
  }
  if (needs_slab(message)) {
    Outbound placed = message;
    placed.slab = slabs().acquire(direction, message.size, link.member);
    if (placed.slab == no_slab) return false;
    std::memcpy(slabs().address(placed.slab), message.payload, message.size);
    if (send_cell(link, direction, placed)) return true;
    slabs().release(placed.slab);
    return false;
  }
  return send_cell(link, direction, message);
}

namespace {

struct KeptReply {
  Link* link;
  Outbound message;
  alignas(16) gex_AM_Arg_t args[max_args];
  std::unique_ptr<std::byte[]> payload;
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
  auto kept = std::make_unique<KeptReply>();
  kept->link = &link;
  kept->message = message;
  if (message.arg_count != 0) copy_args(kept->args, message.args, message.arg_count);
  kept->message.args = kept->args;
  kept->payload = std::make_unique<std::byte[]>(message.size);
  std::memcpy(kept->payload.get(), message.payload, message.size);
  kept->message.payload = kept->payload.get();
  KeptReplies& all = kept_replies();
  const OptionalGuard guard(all.lock, true);
  all.list.push_back(std::move(kept));
  any_kept.store(true, std::memory_order_relaxed);
}

}  // namespace

void send_reply_local(Link& link, const Outbound& message) noexcept {
  if (try_send_local(link, message, false)) return;
  if (needs_slab(message)) {
    keep(link, message);
    return;
  }
  // The reservation makes room certain; with shared rings a claim may only lose a race.
  Waiter waiter;
  for (unsigned turns = 0; !try_send_local(link, message, false); ++turns) {
    if (turns > 100'000'000U)
      fatal("no room for a reply to rank %u although it was reserved",
            process().neighborhood.first_rank() + link.member);
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
    const bool went = try_send_local(*kept->link, kept->message, false);
    sent = sent || went;
    return went;
  });
  if (!mine.empty()) {
    const OptionalGuard guard(all.lock, true);
    for (auto& kept : mine) all.list.push_back(std::move(kept));
    any_kept.store(true, std::memory_order_relaxed);
  }
  return sent;
}

}  // namespace gex::am
