#pragma once
// The tree by which the hosts of a job are started: a process starts its first hosts itself, and
// the launch agents of these start the rest, each a part of the same size, in the same way.
//
//   HostTree tree(7, {}, {0, 1, 2, 3, 4, 5, 6}, 3);   // here -> 0, 3, 5;  0 -> 1, 2;  3 -> 4;  5
//   -> 6
//
// The hosts' frames to the root, and its frames to them, take the same ways.

#include <cstdint>
#include <span>
#include <vector>

#include "job/host_parts.h"

namespace gex::launch {

class HostTree {
 public:
  /// The parent of a host that this process starts.
  static constexpr std::uint32_t here = UINT32_MAX;
  /// The parent of a host outside the tree.
  static constexpr std::uint32_t nowhere = UINT32_MAX - 1;

  /// In a job of so many `hosts`, this process starts those in `single`, which start no others, and
  /// at most `fanout` of those in `rest`, unless `fanout` is 0: then all of them.
  HostTree(std::uint32_t hosts, std::span<const std::uint32_t> single,
           std::span<const std::uint32_t> rest, std::uint32_t fanout);

  /// This process reaches all hosts without others.
  explicit HostTree(std::uint32_t hosts) : parents_(hosts, here), below_(hosts) {}

  /// The host whose agent starts this one; `here` or `nowhere`.
  std::uint32_t parent(std::uint32_t host) const { return parents_[host]; }
  /// All hosts that are started through this one's agent, this one not included.
  std::span<const std::uint32_t> below(std::uint32_t host) const { return below_[host]; }
  /// The host that this process starts to reach this one, which is in the tree.
  std::uint32_t first_hop(std::uint32_t host) const;
  /// Returns true if the host is reached through `way`, or is `way`.
  bool is_through(std::uint32_t way, std::uint32_t host) const;
  /// All hosts that are reached through `way`, that one first.
  std::vector<std::uint32_t> through(std::uint32_t way) const;
  /// Returns true if the agent of the host starts others.
  bool is_branch(std::uint32_t host) const { return !below_[host].empty(); }
  /// The greatest number of starts from this process to a host.
  std::uint32_t height() const;
  /// The ranks that are reached through each host that this process starts; none by the others.
  std::vector<job::RankSet> ranks_by_first_hop(const job::HostParts& hosts) const;

  /// This process starts the host itself, and thereby those below it.
  void take_over(std::uint32_t host) { parents_[host] = here; }

 private:
  void divide(std::uint32_t parent, std::span<const std::uint32_t> hosts, std::uint32_t fanout);

  std::vector<std::uint32_t> parents_;
  std::vector<std::vector<std::uint32_t>> below_;
};

}  // namespace gex::launch
