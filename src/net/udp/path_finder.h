#pragma once
// How large datagrams may be on the way to each peer: sends the probes of its PathSearch when they
// are due, answers those of peers, and has packets made for what was found.
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <vector>

#include "net/udp/acknowledgements.h"
#include "net/udp/burst.h"
#include "net/udp/peer.h"
#include "net/udp/socket.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

class PathFinder {
 public:
  PathFinder(const Socket& socket, Burst& burst, Acknowledgements& acknowledgements) noexcept
      : socket_(socket), burst_(burst), acknowledgements_(acknowledgements) {}
  PathFinder(const PathFinder&) = delete;
  PathFinder& operator=(const PathFinder&) = delete;

  /// Something is sent there for the first time since the way was of interest.
  void begin(Peer& peer, Time now);
  /// Datagrams of this size may not arrive at the peer.
  void suspect(Peer& peer, std::size_t size, Time now);
  /// Does what is due.
  void search(Time now);
  /// When something is due next.
  Time next_at() const noexcept { return next_at_; }

  void handle_probe(Peer& peer, const ProbeDetails& probe);
  void handle_answer(Peer& peer, const ProbeDetails& probe, Time now);

 private:
  void add(Peer& peer);

  const Socket& socket_;
  Burst& burst_;
  Acknowledgements& acknowledgements_;
  std::vector<Peer*> searching_;
  Time next_at_ = ~Time{0};
};

}  // namespace gex::net::udp
