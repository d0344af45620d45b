#pragma once
// The peers of an endpoint, each made when it is first of use: a rank that is never sent to and
// from which nothing comes is a null pointer.
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/zeroed_table.h"
#include "net/udp/peer.h"

namespace gex::net::udp {

class Peers {
 public:
  explicit Peers(std::size_t ranks) : by_rank_(ranks) {}

  std::size_t ranks() const noexcept { return by_rank_.size(); }
  /// Null: it was not made yet.
  Peer* find(std::uint32_t rank) const noexcept { return by_rank_[rank]; }
  /// Requires that it was not made yet. It stays where it is.
  Peer& make(std::uint32_t rank) {
    Peer* const peer = made_.emplace_back(std::make_unique<Peer>()).get();
    peer->rank = rank;
    by_rank_[rank] = peer;
    return *peer;
  }
  /// All that were made, in the order in which they were.
  std::span<const std::unique_ptr<Peer>> made() const noexcept { return made_; }

 private:
  ZeroedTable<Peer*> by_rank_;
  std::vector<std::unique_ptr<Peer>> made_;
};

}  // namespace gex::net::udp
