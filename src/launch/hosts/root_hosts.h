#pragma once
// The state that the parts of a root share: the hosts of the job, and what has become of each.
//
//   Authentication    connections of guardians until they have proven that they have the secret
//   HostConnections   links to the hosts' guardians, or to agents through which they are reached
//   HostAgents        the processes by which the root reaches the hosts, if it starts them
//   Root              all of these around one EventLoop
//
// Each of them uses those above it, and reports to the root by HostEvents. An agent that starts
// hosts (launch/agents/branch.h) has the same parts, for the hosts below it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "job/protocol.h"
#include "launch/hosts/host_tree.h"
#include "launch/launch_spec.h"

namespace gex::launch {

class RootHosts {
 public:
  struct Host {
    bool connected = false;
    bool done = false;  ///< has finished, or is lost
  };

  explicit RootHosts(const Launch& launch_here)
      : launch(launch_here), hosts_(launch_here.hosts.size()) {}

  const Launch& launch;

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(hosts_.size()); }
  const Host& operator[](std::uint32_t host) const { return hosts_[host]; }
  bool all_connected() const noexcept { return connected_count_ == hosts_.size(); }
  bool all_done() const noexcept { return done_count_ == hosts_.size(); }

  void mark_connected(std::uint32_t host) {
    hosts_[host].connected = true;
    ++connected_count_;
  }
  void mark_done(std::uint32_t host) {
    hosts_[host].done = true;
    ++done_count_;
  }

  /// The hosts that are reached through `way`, that one first, and are not done.
  std::vector<std::uint32_t> unfinished_through(const HostTree& tree, std::uint32_t way) const {
    std::vector<std::uint32_t> found = tree.through(way);
    std::erase_if(found, [&](std::uint32_t host) { return hosts_[host].done; });
    return found;
  }

  job::RankSet ranks_of(const std::vector<std::uint32_t>& hosts) const {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t host : hosts)
      ranks.insert(ranks.end(), launch.hosts[host].ranks.begin(), launch.hosts[host].ranks.end());
    std::ranges::sort(ranks);
    return job::RankSet(std::move(ranks));
  }

  /// "host node1 (ranks 0-3)".
  std::string name_of(std::uint32_t host) const {
    const job::HostPart& part = launch.hosts[host];
    return "host " + part.name + " (" + job::describe_ranks(part.ranks) + ")";
  }

 private:
  std::vector<Host> hosts_;
  std::uint32_t connected_count_ = 0;
  std::uint32_t done_count_ = 0;
};

/// The parts report these to the root.
class HostEvents {
 public:
  /// A frame of the host's guardian, or of its agent that starts others. Returns false if it is
  /// malformed; the link that it came by is lost then.
  virtual bool handle_frame(std::uint32_t host, const job::Received& frame) = 0;
  /// The job ends because the host is lost, for this reason; empty: the reason is reported already.
  virtual void lose_host(std::uint32_t host, const std::string& why) = 0;
  /// So does it because no remote shell reaches the host from here.
  virtual void cannot_reach(std::uint32_t host, const std::string& why) { lose_host(host, why); }

 protected:
  ~HostEvents() = default;
};

}  // namespace gex::launch
