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
#include "net/udp/directory.h"
#include "net/udp/endpoint_settings.h"
#include "net/udp/peer.h"
#include "net/udp/seal.h"

namespace gex::net::udp {

class Peers {
 public:
  /// The parts of the endpoint of which peers are made; those that are not copied outlive them.
  struct EndpointParts {
    std::uint32_t rank;  ///< of this process
    const EndpointSettings& settings;
    const PeerDirectory& directory;
    const Seal& seal;
    std::size_t packet_room;  ///< bytes of the largest datagram with messages that can be built
  };
  explicit Peers(const EndpointParts& parts)
      : endpoint_(parts), by_rank_(parts.directory.ranks()) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  std::size_t ranks() const noexcept { return by_rank_.size(); }
  /// Null: it was not made yet.
  Peer* find(std::uint32_t rank) const noexcept { return by_rank_[rank]; }
  /// It stays where it is.
  Peer& find_or_make(std::uint32_t rank) {
    Peer* const known = find(rank);
    return known != nullptr ? *known : make(rank);
  }
  /// All that were made, in the order in which they were.
  std::span<const std::unique_ptr<Peer>> made() const noexcept { return made_; }

 private:
  Peer& make(std::uint32_t rank);

  const EndpointParts endpoint_;
  ZeroedTable<Peer*> by_rank_;
  std::vector<std::unique_ptr<Peer>> made_;
};

}  // namespace gex::net::udp
