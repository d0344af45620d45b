#pragma once
// Which ranks of a foreign launcher's job are on which host, found in two steps so that no rank
// looks up all others: the lowest rank of each of the launcher's nodes groups the ranks there by
// the identity of their host, and the groups of all nodes make the hosts. A node is several hosts
// where its ranks are in containers; two nodes are one host where they are names of one machine.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/host_parts.h"
#include "job/rank_set.h"

namespace gex::job {

/// The hosts of the ranks of one node.
struct NodeHosts {
  std::vector<std::string> identities;  ///< distinct, in the order of their lowest rank
  std::vector<std::uint32_t> host_of;   ///< by the rank's index within the node: which identity

  bool operator==(const NodeHosts&) const = default;
};

/// Groups the ranks of a node by their identities, which are given in rank order. An identity is of
/// letters, digits and ".-_/"; the part before its first '/' is the host's name.
NodeHosts group_by_host(std::span<const std::string> identities);

/// The groups as text: "IDENTITY,IDENTITY:0.1.0.1". Of one identity without the indices.
std::string text_of(const NodeHosts& hosts);

/// Empty if the text is not that of a node with so many ranks.
std::optional<NodeHosts> node_hosts(std::string_view text, std::uint32_t ranks);

/// The ranks of each of the launcher's nodes.
class LauncherNodes {
 public:
  /// `node_of`: the number of each rank's node; any numbers. Empty: one node has all `ranks`.
  LauncherNodes(std::span<const std::uint32_t> node_of, std::uint32_t ranks);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(nodes_.size()); }
  /// Nodes are numbered in the order of their lowest ranks.
  const RankSet& operator[](std::uint32_t node) const { return nodes_[node]; }
  /// The number of a rank's node.
  std::uint32_t of(std::uint32_t rank) const { return number_of_[rank]; }

  /// The hosts of the job, numbered in the order of their lowest ranks. `groups`: of each node.
  HostParts hosts(std::span<const NodeHosts> groups) const;

 private:
  std::vector<RankSet> nodes_;
  std::vector<std::uint32_t> number_of_;
};

}  // namespace gex::job
