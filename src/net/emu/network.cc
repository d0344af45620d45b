#include "net/emu/network.h"

#include <bit>
#include <cstring>

#include "net/kit/fatal.h"

namespace gex::net::emu {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "words shared between processes cannot be guarded by a lock of one of them");

namespace {
std::byte* bytes_of(Record& record) noexcept {
  return reinterpret_cast<std::byte*>(&record);
}
}  // namespace

EmuNetwork::EmuNetwork(const Host& host, const Layout& layout, std::span<std::byte> memory,
                       std::uint64_t seed, Ports* ports, Bells* bells)
    : host_(host),
      ports_(ports),
      bells_(bells),
      layout_(layout),
      memory_(memory),
      all_(all_slots(layout.depth())),
      threaded_(host.threaded != 0) {
  const std::size_t queues = std::size_t{Layout::channels} * layout.ranks();
  outgoing_ = ZeroedTable<Outgoing>(queues);
  finished_ = ZeroedTable<Word>(queues);
  taken_ = ZeroedTable<Word>(queues);
  if (seed != 0)
    reorder_.emplace(seed, host.rank, static_cast<std::uint32_t>(queues), layout.depth());
}

EmuNetwork::Word& EmuNetwork::word(std::size_t offset) const noexcept {
  return *reinterpret_cast<Word*>(memory_.data() + offset);
}

Record& EmuNetwork::record(std::uint32_t source, std::uint32_t target, std::uint32_t channel,
                           int slot) const noexcept {
  return *reinterpret_cast<Record*>(
      memory_.data() + layout_.record(source, target, channel, static_cast<std::uint32_t>(slot)));
}

SlotSender<> EmuNetwork::sender(std::uint32_t channel, std::uint32_t peer) noexcept {
  return {word(layout_.sent(host_.rank, peer, channel)),
          word(layout_.done(host_.rank, peer, channel)),
          outgoing_[queue_index(channel, peer)].claimed, all_, threaded_};
}

SlotReceiver<> EmuNetwork::receiver(std::uint32_t channel, std::uint32_t source) noexcept {
  const std::size_t queue = queue_index(channel, source);
  return {word(layout_.sent(source, host_.rank, channel)),
          word(layout_.done(source, host_.rank, channel)),
          finished_[queue],
          taken_[queue],
          all_,
          threaded_};
}

void EmuNetwork::check_peer(std::uint32_t peer) const {
  if (peer >= layout_.ranks() || peer == host_.rank) [[unlikely]]
    fatal(host_, "emu: a message to rank %u, which is not a peer of rank %u among %u", peer,
          host_.rank, layout_.ranks());
}

std::uint32_t EmuNetwork::take_number(std::uint32_t channel, std::uint32_t peer) noexcept {
  std::atomic<std::uint32_t>& sequence = outgoing_[queue_index(channel, peer)].sequence;
  // Relaxed: a number.
  if (threaded_) return sequence.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t number = sequence.load(std::memory_order_relaxed);
  sequence.store(number + 1, std::memory_order_relaxed);
  return number;
}

SendResult EmuNetwork::send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces,
                            Tick now) {
  check_peer(peer);
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  if (size > max_message) [[unlikely]]
    fatal(host_, "emu: a message of %zu bytes to rank %u; the limit is %zu", size, peer,
          max_message);

  const SlotSender<> queue = sender(channel, peer);
  std::optional<int> prepared;
  if (!pieces.empty()) prepared = built_in_place(channel, peer, pieces.back().data);
  const int slot = prepared ? *prepared : queue.claim();
  if (slot == no_slot) return would_block;

  Record& to = record(host_.rank, peer, channel, slot);
  std::size_t start = sizeof(Record);
  if (prepared) {
    const std::size_t header = size - pieces.back().size;
    if (header <= header_room && (payload_start - header) % message_alignment == 0) {
      start = payload_start - header;
    } else {
      // The header does not fit in front of the payload at the alignment messages have.
      std::memmove(bytes_of(to) + start + header, pieces.back().data, pieces.back().size);
    }
    pieces = pieces.first(pieces.size() - 1);
  }
  std::byte* out = bytes_of(to) + start;
  for (const Piece& piece : pieces) {
    if (piece.size != 0) std::memcpy(out, piece.data, piece.size);
    out += piece.size;
  }
  to.size.store(static_cast<std::uint16_t>(size), std::memory_order_relaxed);
  to.start.store(static_cast<std::uint16_t>(start), std::memory_order_relaxed);
  const std::uint32_t number = take_number(channel, peer);
  to.sequence.store(number, std::memory_order_relaxed);
  if (ports_ != nullptr)
    to.due.store(ports_->message(channel, peer, number, size, now), std::memory_order_relaxed);
  queue.publish(slot);
  if (bells_ != nullptr) bells_->ring(peer);
  return sent;
}

void* EmuNetwork::buffer(Channel channel, std::uint32_t peer, std::size_t size) {
  check_peer(peer);
  if (size > payload_room) return nullptr;
  const int slot = sender(channel, peer).claim();
  if (slot == no_slot) return nullptr;
  return bytes_of(record(host_.rank, peer, channel, slot)) + payload_start;
}

void EmuNetwork::release(void* buffer) {
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(buffer) - reinterpret_cast<std::uintptr_t>(memory_.data());
  std::optional<Layout::Place> place;
  if (offset < memory_.size()) place = layout_.locate(offset);
  if (!place || place->source != host_.rank || place->offset != payload_start)
    fatal(host_, "emu: release of %p, which is not a buffer of rank %u", buffer, host_.rank);
  sender(place->channel, place->target).abandon(static_cast<int>(place->slot));
}

std::optional<int> EmuNetwork::built_in_place(Channel channel, std::uint32_t peer,
                                              const void* payload) const noexcept {
  // Anything else inside the file, such as a received message that is passed on, is an ordinary
  // source to copy from.
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory_.data()) +
                               layout_.record(host_.rank, peer, channel, 0) + payload_start;
  const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(payload) - first;
  if (distance >= layout_.depth() * record_stride || distance % record_stride != 0)
    return std::nullopt;
  return static_cast<int>(distance / record_stride);
}

std::size_t EmuNetwork::poll(std::uint32_t channels, std::size_t max, Tick now) {
  if (reorder_) return poll_reordered(channels, max, now);
  std::size_t delivered = 0;
  // Replies first: they give room and credits back, and their handlers are short.
  for (const Channel channel : {reply_channel, request_channel})
    if ((channels >> channel & 1) != 0) delivered += poll_channel(channel, max - delivered, now);
  return delivered;
}

std::uint64_t EmuNetwork::arrived(std::uint32_t channel, std::uint32_t source, std::uint64_t ready,
                                  Tick now) const noexcept {
  if (ports_ == nullptr) return ready;
  std::uint64_t result = 0;
  for (std::uint64_t left = ready; left != 0; left &= left - 1) {
    const int slot = std::countr_zero(left);
    if (record(source, host_.rank, channel, slot).due.load(std::memory_order_relaxed) <= now)
      result |= std::uint64_t{1} << slot;
  }
  return result;
}

std::size_t EmuNetwork::poll_channel(std::uint32_t channel, std::size_t max, Tick now) {
  const std::uint32_t ranks = layout_.ranks();
  const Word* arrivals = &word(layout_.sent(0, host_.rank, channel));
  const std::size_t first_queue = queue_index(channel, 0);
  std::size_t delivered = 0;
  std::uint32_t source = next_source_[channel].load(std::memory_order_relaxed);
  for (std::uint32_t looked = 0; looked < ranks && delivered < max; ++looked) {
    // Relaxed: only a hint that something waits; `take` looks again and orders.
    if (arrivals[source].load(std::memory_order_relaxed) !=
        finished_[first_queue + source].load(std::memory_order_relaxed)) [[unlikely]] {
      const SlotReceiver<> queue = receiver(channel, source);
      // No more than waited at first, so that a peer that floods us does not keep us here.
      std::uint64_t ready = arrived(channel, source, queue.ready(), now);
      for (int waiting = std::popcount(ready); waiting > 0 && delivered < max; --waiting) {
        const int slot = first_sent(channel, source, ready);
        if (queue.take(slot)) {
          deliver(channel, source, slot);
          ++delivered;
        }
        ready = arrived(channel, source, queue.ready(), now);
        if (ready == 0) break;
      }
    }
    if (++source == ranks) source = 0;
  }
  // Relaxed: where a poll begins is a matter of fairness only.
  if (delivered != 0) next_source_[channel].store(source, std::memory_order_relaxed);
  return delivered;
}

std::uint32_t EmuNetwork::sequence_of(std::uint32_t channel, std::uint32_t source,
                                      int slot) const noexcept {
  return record(source, host_.rank, channel, slot).sequence.load(std::memory_order_relaxed);
}

int EmuNetwork::first_sent(std::uint32_t channel, std::uint32_t source,
                           std::uint64_t ready) const noexcept {
  int first = std::countr_zero(ready);
  ready &= ready - 1;
  if (ready == 0) return first;
  std::uint32_t lowest = sequence_of(channel, source, first);
  for (; ready != 0; ready &= ready - 1) {
    const int slot = std::countr_zero(ready);
    const std::uint32_t other = sequence_of(channel, source, slot);
    if (static_cast<std::int32_t>(other - lowest) < 0) {
      first = slot;
      lowest = other;
    }
  }
  return first;
}

void EmuNetwork::collect_candidates(std::uint32_t channels, Tick now) noexcept {
  reorder_->begin_look();
  for (std::uint32_t channel = 0; channel < Layout::channels; ++channel) {
    if ((channels >> channel & 1) == 0) continue;
    for (std::uint32_t source = 0; source < layout_.ranks(); ++source) {
      const std::uint64_t ready = arrived(channel, source, receiver(channel, source).ready(), now);
      for (std::uint64_t left = ready; left != 0; left &= left - 1) {
        const int slot = std::countr_zero(left);
        reorder_->consider(static_cast<std::uint32_t>(queue_index(channel, source)), slot,
                           sequence_of(channel, source, slot));
      }
    }
  }
}

std::size_t EmuNetwork::poll_reordered(std::uint32_t channels, std::size_t max, Tick now) {
  std::size_t delivered = 0;
  std::size_t limit = max;
  while (delivered < limit) {
    Reorder::Choice choice;
    {
      // Taken under the lock: a message that two threads choose would have its delay drawn twice.
      const OptionalGuard guard(reorder_lock_, threaded_);
      for (std::uint32_t looks = 0; looks < Reorder::looks_per_poll; ++looks) {
        collect_candidates(channels, now);
        if (!reorder_->all_held_back()) break;
      }
      // What arrives while we deliver is for the next poll.
      if (delivered == 0 && reorder_->candidates() < limit) limit = reorder_->candidates();
      if (!reorder_->choose(choice)) break;
      if (!receiver(choice.queue / layout_.ranks(), choice.queue % layout_.ranks())
               .take(choice.slot))
        break;
    }
    deliver(choice.queue / layout_.ranks(), choice.queue % layout_.ranks(), choice.slot);
    ++delivered;
  }
  return delivered;
}

void EmuNetwork::deliver(std::uint32_t channel, std::uint32_t source, int slot) {
  Record& from = record(source, host_.rank, channel, slot);
  const std::size_t size = from.size.load(std::memory_order_relaxed);
  const std::size_t start = from.start.load(std::memory_order_relaxed);
  if (size > max_message || start < sizeof(Record) || start > payload_start ||
      start % message_alignment != 0 || start + size > record_stride) [[unlikely]]
    fatal(host_, "emu: rank %u sent a message of %zu bytes at %zu; the limit is %zu", source, size,
          start, max_message);
  host_.deliver(source, static_cast<Channel>(channel), bytes_of(from) + start, size);
  receiver(channel, source).finish(slot);
  // It may wait for that room.
  if (bells_ != nullptr) bells_->ring(source);
}

void EmuNetwork::check_invariants() const {
  for (std::uint32_t channel = 0; channel < Layout::channels; ++channel) {
    for (std::uint32_t peer = 0; peer < layout_.ranks(); ++peer) {
      if (peer == host_.rank) continue;
      const std::size_t queue = queue_index(channel, peer);
      const auto load = [](const Word& w) { return w.load(std::memory_order_relaxed); };
      const std::uint64_t sent_here = load(word(layout_.sent(peer, host_.rank, channel)));
      const std::uint64_t done_here = load(word(layout_.done(peer, host_.rank, channel)));
      const std::uint64_t sent_there = load(word(layout_.sent(host_.rank, peer, channel)));
      const std::uint64_t claimed = load(outgoing_[queue].claimed);
      const char* wrong = nullptr;
      if (load(finished_[queue]) != done_here) wrong = "messages handled and slots given back";
      if ((load(taken_[queue]) & ~(sent_here ^ done_here)) != 0) wrong = "slots read and sent";
      if (((sent_here | done_here | sent_there | claimed) & ~all_) != 0) wrong = "slots and depth";
      if (wrong != nullptr)
        fatal(host_, "emu: %s disagree between rank %u and rank %u", wrong, host_.rank, peer);
    }
  }
}

}  // namespace gex::net::emu
