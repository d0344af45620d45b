#pragma once
// The machine of a replay: hosts with so many ranks each, that share one port to the network; LogGP
// parameters of the network and of the memory within a host, in the form of GEX_EMU
// (docs/emu.md). Times are nanoseconds.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "net/emu/model.h"

namespace gextrace {

struct Machine {
  gex::net::emu::Model network;
  gex::net::emu::Model memory;
  std::uint32_t ranks_per_host = 1;
  double compute_factor = 1;  ///< of the time that the recorded machine computed

  std::uint32_t host_of(std::uint32_t rank) const noexcept { return rank / ranks_per_host; }
  const gex::net::emu::Model& between(std::uint32_t one, std::uint32_t other) const noexcept {
    return host_of(one) == host_of(other) ? memory : network;
  }
  double transmission(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const noexcept;
  /// From the call that sends `bytes` to the begin of what they cause, on free ports.
  double one_way(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const noexcept;
};

/// The ports of all hosts, by which each sends and receives one thing at a time, first come, first
/// served. To be asked in the order of times.
class HostPorts {
 public:
  HostPorts(const Machine& machine, std::uint32_t ranks);

  /// Returns when the first byte of a message that is at the sender's port at `now` is at the
  /// target's port. Not within a host.
  double send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, double now);
  /// Returns when the last byte of a message has come that reaches the target's port at `now`.
  double receive(std::uint32_t to, std::uint64_t bytes, double now);

  struct Load {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double busy_ns = 0;  ///< in which the port sends
  };
  const std::vector<Load>& loads() const noexcept { return loads_; }

 private:
  static double reserve(double& free_from, double earliest, double duration) noexcept;

  const Machine& machine_;
  std::uint32_t half_;  ///< the first host of the upper half
  std::vector<double> out_, in_;
  std::unordered_map<std::uint64_t, double> links_;  ///< by sender and target, with a gap
  double bisection_ = 0;
  std::vector<Load> loads_;
};

}  // namespace gextrace
