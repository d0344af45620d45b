#pragma once
// The connections that a rank has when a job begins: with those that lie a power of two before and
// behind it, to which barriers and trees over all ranks send. From then on a first message to them
// does not wait for its sender's polls. Ranks that share memory need none.
//
// Thread rules: one thread at a time.

#include <gex/plugin/conduit.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gex::net {

class Handshakes {
 public:
  explicit Handshakes(const Host& host) : host_(host), have_come_(host.size) {}

  /// One has come from that rank.
  void came(std::uint32_t peer) { have_come_[peer] = true; }

  /// The network's part in them.
  struct Network {
    const char* name;    ///< the conduit's
    const char* remedy;  ///< where a connection takes long: "GEX_X chooses another interface"
    /// Sends one; false: there is no buffer, which ends the job.
    std::function<bool(std::uint32_t peer)> send;
    /// Moves on what is under way. Returns whether all that was sent is gone.
    std::function<bool()> advance;
    /// Returns a rank that takes nothing now, if there is one.
    std::function<std::optional<std::uint32_t>()> refusing;
    /// With all ranks, not only those that lie a power of two away.
    bool with_all = false;
  };
  /// Sends this rank's and returns when those of the others have come and its own have gone; warns
  /// after some seconds which rank it waits for. Collective.
  void exchange(const Network& network);

 private:
  const Host& host_;
  std::vector<bool> have_come_;
};

}  // namespace gex::net
