#pragma once
// Records of the puts, gets and atomic operations of a network that are under way: a bounded number
// to each peer, so that one that does nothing leaves room to others, and a bounded number in all.
//
// A record stays at its address and has a number, by which a peer can refer to it: `Transfer` has
// `std::uint32_t peer` and `std::uint32_t number`. What else it has stays as its last user left it.
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/zeroed_table.h"

namespace gex::net {

/// Transfers that may be under way to a peer, and in all.
struct TransferRoom {
  std::uint32_t a_peer;
  std::uint32_t in_all;
};

template <class Transfer>
class TransferPool {
 public:
  TransferPool(std::size_t ranks, const TransferRoom& room) : room_(room), under_way_(ranks) {}

  /// Null: as many are under way as may be.
  Transfer* take(std::uint32_t peer) {
    if (under_way_[peer] >= room_.a_peer || all_under_way_ >= room_.in_all) return nullptr;
    return take_beyond_room(peer);
  }
  /// One more, whatever is under way.
  Transfer* take_beyond_room(std::uint32_t peer) {
    if (free_.empty()) grow();
    Transfer* const transfer = free_.back();
    free_.pop_back();
    ++under_way_[peer];
    ++all_under_way_;
    transfer->peer = peer;
    return transfer;
  }
  void give_back(Transfer& transfer) noexcept {
    GEX_ASSERT(transfer.peer != no_peer && under_way_[transfer.peer] != 0);
    --under_way_[transfer.peer];
    --all_under_way_;
    transfer.peer = no_peer;
    free_.push_back(&transfer);
  }

  /// The transfer of that number; null: there is none to this peer.
  Transfer* find(std::uint32_t peer, std::uint32_t number) const noexcept {
    if (number / batch >= blocks_.size()) return nullptr;
    Transfer& transfer = blocks_[number / batch][number % batch];
    return transfer.peer == peer ? &transfer : nullptr;
  }

  std::uint32_t under_way(std::uint32_t peer) const noexcept { return under_way_[peer]; }
  std::uint32_t under_way() const noexcept { return all_under_way_; }

 private:
  /// Records made at once.
  static constexpr std::uint32_t batch = 64;
  static constexpr std::uint32_t no_peer = ~0U;

  void grow() {
    const auto first = static_cast<std::uint32_t>(blocks_.size()) * batch;
    Transfer* const made = blocks_.emplace_back(std::make_unique<Transfer[]>(batch)).get();
    // So that giving one back needs no memory.
    free_.reserve(first + batch);
    for (std::uint32_t i = batch; i-- > 0;) {
      made[i].peer = no_peer;
      made[i].number = first + i;
      free_.push_back(&made[i]);
    }
  }

  const TransferRoom room_;
  std::vector<std::unique_ptr<Transfer[]>> blocks_;
  std::vector<Transfer*> free_;
  ZeroedTable<std::uint32_t> under_way_;  ///< by peer
  std::uint32_t all_under_way_ = 0;
};

}  // namespace gex::net
