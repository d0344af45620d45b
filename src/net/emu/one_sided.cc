#include "net/emu/one_sided.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/atomic_operations.h"

namespace gex::net::emu {

OneSided::OneSided(const Host& host, const Segments& segments, Ports* ports, std::uint64_t seed,
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

std::uint32_t OneSided::draw_delay() noexcept {
  const std::uint64_t bits = random_();
  if (!seeded_ || (bits & 1) != 0) return 0;
  return std::uint32_t{1} << (bits >> 1) % std::bit_width(longest_delay);
}

bool OneSided::reach(Transfer& transfer, const LocalPiece& local) const {
  if (local.size <= bounced || segments_.is_own(local.data, local.size)) return true;
  if (adapter_ == nullptr) return false;
  const Adapter::Use use = adapter_->use(local.data, local.size);
  if (use.piece != nullptr) transfer.held.push_back(use.piece);
  return use.was_registered;
}

bool OneSided::reach(Transfer& transfer, std::span<const LocalPiece> local) const {
  bool all = true;
  for (const LocalPiece& piece : local) all = reach(transfer, piece) && all;
  return all;
}

void OneSided::release_memory(Transfer& transfer) const {
  for (RegistrationCache::Piece* piece : transfer.held) adapter_->release(*piece);
  transfer.held.clear();
}

OneSided::Transfer OneSided::contiguous(std::uint32_t peer, const Copy& copy, void* done) noexcept {
  Transfer transfer{};
  transfer.peer = peer;
  transfer.copy = copy;
  transfer.done = done;
  return transfer;
}

template <class Pair>
void OneSided::for_pairs(const Remote& remote, std::span<const RemotePiece> there,
                         std::span<const LocalPiece> here, Pair pair) const {
  const LocalPiece* local = here.data();
  std::size_t used = 0;  // of it
  for (const RemotePiece& piece : there) {
    std::byte* at = segments_.find({remote.peer, remote.key, piece.address}, piece.size);
    for (std::size_t left = piece.size; left != 0;) {
      const std::size_t size = std::min(left, local->size - used);
      pair(at, static_cast<std::byte*>(local->data) + used, size);
      at += size;
      left -= size;
      used += size;
      if (used != local->size) continue;
      ++local;
      used = 0;
    }
  }
}

template <class Copies>
OneSided::Transfer OneSided::of_pieces(const Remote& remote, std::span<const RemotePiece> there,
                                       std::span<const LocalPiece> here, void* done,
                                       Copies copy_of) const {
  Transfer transfer = contiguous(remote.peer, {nullptr, nullptr, 0}, done);
  transfer.pieces.reserve(there.size() + here.size());
  for_pairs(remote, there, here, [&](std::byte* at, std::byte* local, std::size_t size) {
    transfer.pieces.push_back(copy_of(at, local, size));
    transfer.copy.size += size;
  });
  return transfer;
}

void OneSided::move(Transfer& transfer) noexcept {
  const Atomic& atomic = transfer.atomic;
  if (atomic.operation != 0) {
    // Any memory order that the caller may have asked for, towards threads that see the result.
    const std::uint64_t old =
        atomic::apply(atomic.type, transfer.copy.to, atomic.operation, atomic.operand1,
                      atomic.operand2, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
    if (transfer.result != nullptr) gex_ad_write_(atomic.type, transfer.result, old);
  } else if (transfer.pieces.empty()) {
    std::memcpy(transfer.copy.to, transfer.copy.from, transfer.copy.size);
  } else {
    for (const Copy& piece : transfer.pieces) std::memcpy(piece.to, piece.from, piece.size);
  }
  transfer.moved = true;
}

void OneSided::begin(Transfer&& transfer) {
  transfer.number = begun_++;
  transfer.moves.look = looks_ + draw_delay();
  transfer.is_local.look = looks_ + draw_delay();
  transfer.is_done.look = looks_ + draw_delay();
  if (!seeded_) move(transfer);
  ++to_peer_[transfer.peer];
  transfers_.push_back(std::move(transfer));
  under_way_.store(transfers_.size(), std::memory_order_relaxed);
}

void OneSided::complete_now(void* done, void* local_done) const {
  if (local_done != nullptr) host_.complete(local_done);
  if (done != nullptr) host_.complete(done);
}

SendResult OneSided::begin_put(Transfer&& transfer, std::span<const LocalPiece> from, Tick now) {
  if (ports_ != nullptr) {
    const Ports::Put times =
        ports_->put(transfer.peer, transfer.copy.size, reach(transfer, from), now);
    transfer.is_local.time = times.left;
    transfer.is_done.time = times.done;
  }
  begin(std::move(transfer));
  return sent;
}

SendResult OneSided::begin_get(Transfer&& transfer, std::span<const LocalPiece> to, Tick now) {
  if (ports_ != nullptr)
    transfer.is_done.time =
        ports_->get(transfer.peer, transfer.copy.size, reach(transfer, to), now);
  begin(std::move(transfer));
  return sent;
}

SendResult OneSided::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done, Tick now) {
  std::byte* to = segments_.find(remote, size);
  const auto* from = static_cast<const std::byte*>(local);
  if (is_immediate()) {
    std::memcpy(to, from, size);
    complete_now(done, local_done);
    return sent;
  }
  const OptionalGuard guard(lock_, threaded_);
  if (!has_room(remote.peer)) return would_block;
  Transfer transfer = contiguous(remote.peer, {to, from, size}, done);
  transfer.local_done = local_done;
  const LocalPiece piece{const_cast<void*>(local), size};
  return begin_put(std::move(transfer), {&piece, 1}, now);
}

SendResult OneSided::get(const Remote& remote, void* local, std::size_t size, void* done,
                         Tick now) {
  const std::byte* from = segments_.find(remote, size);
  auto* to = static_cast<std::byte*>(local);
  if (is_immediate()) {
    std::memcpy(to, from, size);
    complete_now(done, nullptr);
    return sent;
  }
  const OptionalGuard guard(lock_, threaded_);
  if (!has_room(remote.peer)) return would_block;
  const LocalPiece piece{local, size};
  return begin_get(contiguous(remote.peer, {to, from, size}, done), {&piece, 1}, now);
}

template <class Copies>
SendResult OneSided::move_pieces(const Remote& remote, std::span<const RemotePiece> there,
                                 std::span<const LocalPiece> here, void* done, void* local_done,
                                 Tick now, Copies copy_of, Begin begin) {
  if (is_immediate()) {
    for_pairs(remote, there, here, [&](std::byte* at, std::byte* local, std::size_t size) {
      const Copy copy = copy_of(at, local, size);
      std::memcpy(copy.to, copy.from, copy.size);
    });
    complete_now(done, local_done);
    return sent;
  }
  const OptionalGuard guard(lock_, threaded_);
  if (!has_room(remote.peer)) return would_block;
  Transfer transfer = of_pieces(remote, there, here, done, copy_of);
  transfer.local_done = local_done;
  return (this->*begin)(std::move(transfer), here, now);
}

SendResult OneSided::put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                                std::span<const LocalPiece> from, void* done, void* local_done,
                                Tick now) {
  return move_pieces(
      remote, to, from, done, local_done, now,
      [](std::byte* there, std::byte* here, std::size_t size) {
        return Copy{there, here, size};
      },
      &OneSided::begin_put);
}

SendResult OneSided::get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                                std::span<const LocalPiece> to, void* done, Tick now) {
  return move_pieces(
      remote, from, to, done, nullptr, now,
      [](std::byte* there, std::byte* here, std::size_t size) {
        return Copy{here, there, size};
      },
      &OneSided::begin_get);
}

bool OneSided::waits(const Flush& flush) const noexcept {
  return std::any_of(transfers_.begin(), transfers_.end(), [&](const Transfer& transfer) {
    return transfer.done == nullptr && transfer.peer == flush.peer &&
           transfer.number < flush.before;
  });
}

SendResult OneSided::flush(std::uint32_t peer, void* done) {
  const OptionalGuard guard(lock_, threaded_);
  const Flush flush{peer, begun_, done};
  if (waits(flush))
    flushes_.push_back(flush);
  else
    host_.complete(done);
  return sent;
}

SendResult OneSided::atomic(const Remote& remote, gex_DT_t type, gex_OP_t operation,
                            const void* operand1, const void* operand2, void* result, void* done,
                            Tick now) {
  const std::size_t size = atomic::size_of(type);
  Transfer transfer{};
  transfer.peer = remote.peer;
  transfer.copy.to = segments_.find(remote, size);
  transfer.atomic = {type, operation, 0, 0};
  // In the low half of a word, as `apply` takes them.
  std::memcpy(&transfer.atomic.operand1, operand1, size);
  std::memcpy(&transfer.atomic.operand2, operand2, size);
  transfer.result = atomic::fetches(operation) ? result : nullptr;
  transfer.done = done;
  if (is_immediate()) {
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

void OneSided::keep_source(Transfer& transfer) {
  transfer.kept = std::make_unique_for_overwrite<std::byte[]>(transfer.copy.size);
  std::byte* at = transfer.kept.get();
  const auto keep = [&at](Copy& copy) {
    std::memcpy(at, copy.from, copy.size);
    copy.from = at;
    at += copy.size;
  };
  if (transfer.pieces.empty()) keep(transfer.copy);
  for (Copy& piece : transfer.pieces) keep(piece);
}

bool OneSided::advance(Transfer& transfer, Tick now, std::size_t& completed) {
  if (!transfer.moved && has_come(transfer.moves, now)) move(transfer);
  if (transfer.local_done != nullptr && has_come(transfer.is_local, now)) {
    // Read at the last moment, so that what reuses it too early is seen at the target.
    if (!transfer.moved) keep_source(transfer);
    host_.complete(std::exchange(transfer.local_done, nullptr));
    ++completed;
  }
  if (!transfer.moved || transfer.local_done != nullptr || !has_come(transfer.is_done, now))
    return false;
  release_memory(transfer);
  if (transfer.done != nullptr) {
    host_.complete(transfer.done);
    ++completed;
  }
  return true;
}

std::size_t OneSided::poll(Tick now) {
  // One thread at a time: the others' polls would see the same.
  if (threaded_ && !lock_.try_lock()) return 0;
  std::size_t completed = 0;
  looks_ += looks_per_poll;
  for (std::size_t i = 0; i < transfers_.size();) {
    if (!advance(transfers_[i], now, completed)) {
      ++i;
      continue;
    }
    --to_peer_[transfers_[i].peer];
    if (i + 1 != transfers_.size()) transfers_[i] = std::move(transfers_.back());
    transfers_.pop_back();
  }
  under_way_.store(transfers_.size(), std::memory_order_relaxed);
  completed += std::erase_if(flushes_, [this](const Flush& flush) {
    if (waits(flush)) return false;
    host_.complete(flush.done);
    return true;
  });
  if (threaded_) lock_.unlock();
  return completed;
}

void OneSided::finish() {
  for (Transfer& transfer : transfers_) {
    if (!transfer.moved) move(transfer);
    release_memory(transfer);
  }
}

}  // namespace gex::net::emu
