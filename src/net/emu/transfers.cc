#include "net/emu/transfers.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/atomic_operations.h"

namespace gex::net::emu {

Transfers::Transfers(const Host& host, const Segments& segments, Ports* ports, std::uint64_t seed,
                     std::uint32_t depth, Adapter* adapter)
    : host_(host),
      segments_(segments),
      ports_(ports),
      adapter_(adapter),
      seeded_(seed != 0),
      threaded_(host.threaded != 0),
      depth_(depth),
      // Another stream than the one by which messages are reordered.
      random_(~seed, host.rank),
      to_peer_(host.size) {
}

std::uint32_t Transfers::draw_delay() noexcept {
  const std::uint64_t bits = random_();
  if (!seeded_ || (bits & 1) != 0) return 0;
  return std::uint32_t{1} << (bits >> 1) % std::bit_width(longest_delay);
}

Adapter::Use Transfers::reach(const void* local, std::size_t size) const {
  if (size <= bounced || segments_.is_own(local, size)) return {nullptr, true};
  return adapter_ != nullptr ? adapter_->use(local, size) : Adapter::Use{nullptr, false};
}

Transfers::Transfer Transfers::copy(std::uint32_t peer, std::byte* to, const std::byte* from,
                                    std::size_t size, void* done) noexcept {
  Transfer transfer{};
  transfer.peer = peer;
  transfer.to = to;
  transfer.from = from;
  transfer.size = size;
  transfer.done = done;
  return transfer;
}

void Transfers::move(Transfer& transfer) noexcept {
  const Atomic& atomic = transfer.atomic;
  if (atomic.operation == 0) {
    std::memcpy(transfer.to, transfer.from, transfer.size);
  } else {
    // The caller's order, whichever it asked for: between it and whoever sees the result.
    const std::uint64_t old =
        atomic::apply(atomic.type, transfer.to, atomic.operation, atomic.operand1, atomic.operand2,
                      GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
    if (transfer.result != nullptr) gex_ad_write_(atomic.type, transfer.result, old);
  }
  transfer.moved = true;
}

void Transfers::begin(Transfer&& transfer) {
  transfer.moves.look = looks_ + draw_delay();
  transfer.is_local.look = looks_ + draw_delay();
  transfer.is_done.look = looks_ + draw_delay();
  if (!seeded_) move(transfer);
  ++to_peer_[transfer.peer];
  transfers_.push_back(std::move(transfer));
  under_way_.store(transfers_.size(), std::memory_order_relaxed);
}

SendResult Transfers::put(const Remote& remote, const void* local, std::size_t size, void* done,
                          void* local_done, Tick now) {
  std::byte* to = segments_.find(remote, size);
  const auto* from = static_cast<const std::byte*>(local);
  if (ports_ == nullptr && !seeded_) {
    std::memcpy(to, from, size);
    if (local_done != nullptr) host_.complete(local_done);
    host_.complete(done);
    return sent;
  }
  const OptionalGuard guard(lock_, threaded_);
  if (!has_room(remote.peer)) return would_block;
  Transfer transfer = copy(remote.peer, to, from, size, done);
  transfer.local_done = local_done;
  if (ports_ != nullptr) {
    const Adapter::Use use = reach(from, size);
    transfer.piece = use.piece;
    const Ports::Put times = ports_->put(remote.peer, size, use.was_registered, now);
    transfer.is_local.time = times.left;
    transfer.is_done.time = times.done;
  }
  begin(std::move(transfer));
  return sent;
}

SendResult Transfers::get(const Remote& remote, void* local, std::size_t size, void* done,
                          Tick now) {
  const std::byte* from = segments_.find(remote, size);
  auto* to = static_cast<std::byte*>(local);
  if (ports_ == nullptr && !seeded_) {
    std::memcpy(to, from, size);
    host_.complete(done);
    return sent;
  }
  const OptionalGuard guard(lock_, threaded_);
  if (!has_room(remote.peer)) return would_block;
  Transfer transfer = copy(remote.peer, to, from, size, done);
  if (ports_ != nullptr) {
    const Adapter::Use use = reach(to, size);
    transfer.piece = use.piece;
    transfer.is_done.time = ports_->get(remote.peer, size, use.was_registered, now);
  }
  begin(std::move(transfer));
  return sent;
}

SendResult Transfers::atomic(const Remote& remote, gex_DT_t type, gex_OP_t operation,
                             const void* operand1, const void* operand2, void* result, void* done,
                             Tick now) {
  const std::size_t size = atomic::size_of(type);
  Transfer transfer{};
  transfer.peer = remote.peer;
  transfer.to = segments_.find(remote, size);
  transfer.atomic = {type, operation, 0, 0};
  // In the low half of a word, as `apply` takes them.
  std::memcpy(&transfer.atomic.operand1, operand1, size);
  std::memcpy(&transfer.atomic.operand2, operand2, size);
  transfer.result = atomic::fetches(operation) ? result : nullptr;
  transfer.done = done;
  if (ports_ == nullptr && !seeded_) {
    move(transfer);
    host_.complete(done);
    return sent;
  }
  const OptionalGuard guard(lock_, threaded_);
  if (!has_room(remote.peer)) return would_block;
  if (ports_ != nullptr) transfer.is_done.time = ports_->put(remote.peer, size, true, now).done;
  begin(std::move(transfer));
  return sent;
}

void Transfers::keep_source(Transfer& transfer) {
  transfer.kept = std::make_unique_for_overwrite<std::byte[]>(transfer.size);
  std::memcpy(transfer.kept.get(), transfer.from, transfer.size);
  transfer.from = transfer.kept.get();
}

bool Transfers::advance(Transfer& transfer, Tick now, std::size_t& told) {
  if (!transfer.moved && has_come(transfer.moves, now)) move(transfer);
  if (transfer.local_done != nullptr && has_come(transfer.is_local, now)) {
    // Read at the last moment, so that what reuses it too early is seen at the target.
    if (!transfer.moved) keep_source(transfer);
    host_.complete(std::exchange(transfer.local_done, nullptr));
    ++told;
  }
  if (!transfer.moved || transfer.local_done != nullptr || !has_come(transfer.is_done, now))
    return false;
  if (transfer.piece != nullptr) adapter_->let_go(*transfer.piece);
  host_.complete(transfer.done);
  ++told;
  return true;
}

std::size_t Transfers::poll(Tick now) {
  // One thread at a time: the others' polls would see the same.
  if (threaded_ && !lock_.try_lock()) return 0;
  std::size_t told = 0;
  looks_ += looks_per_poll;
  for (std::size_t i = 0; i < transfers_.size();) {
    if (!advance(transfers_[i], now, told)) {
      ++i;
      continue;
    }
    --to_peer_[transfers_[i].peer];
    if (i + 1 != transfers_.size()) transfers_[i] = std::move(transfers_.back());
    transfers_.pop_back();
  }
  under_way_.store(transfers_.size(), std::memory_order_relaxed);
  if (threaded_) lock_.unlock();
  return told;
}

void Transfers::finish() {
  for (Transfer& transfer : transfers_) {
    if (!transfer.moved) move(transfer);
    if (transfer.piece != nullptr) adapter_->let_go(*std::exchange(transfer.piece, nullptr));
  }
}

}  // namespace gex::net::emu
