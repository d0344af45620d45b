#include "job/foreign.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/os_abstract_name.h"
#include "base/os_file.h"
#include "base/os_host.h"
#include "job/host_parts.h"
#include "job/launch_hook.h"
#include "job/launcher_nodes.h"

namespace gex::job {

namespace {

[[noreturn]] void fail(const ProcessManager& manager, const char* what) {
  fatal("cannot %s by %s: %s", what, manager.protocol(), manager.error().c_str());
}

void put(ProcessManager& manager, const std::string& key, const std::string& value, Reach reach) {
  if (!manager.put(key, value, reach)) fail(manager, "publish this process's address");
}

std::string get(ProcessManager& manager, std::uint32_t rank, const std::string& key) {
  const auto value = manager.get(rank, key);
  if (!value) fail(manager, "look up the other processes");
  return *value;
}

void fence(ProcessManager& manager, Reach reach) {
  if (!manager.fence(reach)) fail(manager, "wait for the other processes");
}

/// Publishes the groups of this rank's node. Their text may be longer than a value can be.
void put_groups(ProcessManager& manager, const std::string& text) {
  constexpr std::size_t max_piece = 900;
  const std::size_t pieces = (text.size() + max_piece - 1) / max_piece;
  put(manager, "groups", std::to_string(pieces), Reach::job);
  for (std::size_t piece = 0; piece < pieces; ++piece)
    put(manager, "groups." + std::to_string(piece), text.substr(piece * max_piece, max_piece),
        Reach::job);
}

/// Gets the groups of the node whose ranks these are.
NodeHosts get_groups(ProcessManager& manager, const RankSet& ranks) {
  const std::uint32_t leader = ranks.front();
  const std::size_t pieces = std::strtoul(get(manager, leader, "groups").c_str(), nullptr, 10);
  std::string text;
  for (std::size_t piece = 0; piece < pieces; ++piece)
    text += get(manager, leader, "groups." + std::to_string(piece));
  std::optional<NodeHosts> groups = node_hosts(text, ranks.size());
  if (!groups)
    fatal("rank %u published '%s' by %s, which is no list of the hosts of its node", leader,
          text.c_str(), manager.protocol());
  return std::move(*groups);
}

/// Identifies the host of processes that can share descriptors and detect each other's end: the
/// boot of the machine, its name, and the network and process namespaces.
std::string host_identity() {
  std::string name = os::hostname();
  for (char& character : name)
    if (std::isalnum(static_cast<unsigned char>(character)) == 0 && character != '.')
      character = '-';
  std::string identity = name + "/" + os::boot_id();
  for (const char* const path : {"/proc/self/ns/net", "/proc/self/ns/pid"}) {
    struct stat status {};
    if (stat(path, &status) == 0) identity += "/" + std::to_string(status.st_ino);
  }
  return identity;
}

/// A rank and its node.
struct PlaceInNode {
  RankSet neighbors;      ///< the ranks of the node that are on this rank's host
  bool is_several_hosts;  ///< agreed on by all ranks of the node
};

/// The lowest rank of the node groups its ranks by their hosts. Collective.
PlaceInNode find_neighbors(ProcessManager& manager, const LauncherNodes& nodes, Reach near) {
  const RankSet& ranks = nodes[nodes.of(manager.rank())];
  put(manager, "host", host_identity(), near);
  fence(manager, near);
  if (manager.rank() == ranks.front()) {
    std::vector<std::string> identities;
    for (const std::uint32_t rank : ranks) identities.push_back(get(manager, rank, "host"));
    put_groups(manager, text_of(group_by_host(identities)));
  }
  fence(manager, Reach::job);

  const NodeHosts groups = get_groups(manager, ranks);
  const std::uint32_t own = groups.host_of[ranks.index_of(manager.rank())];
  PlaceInNode node{{}, groups.identities.size() > 1};
  for (std::uint32_t i = 0; i < ranks.size(); ++i)
    if (groups.host_of[i] == own) node.neighbors.add(ranks[i]);
  return node;
}

/// The hosts on which the launcher has placed the ranks.
HostParts find_hosts(ProcessManager& manager, const LauncherNodes& nodes) {
  std::vector<NodeHosts> groups;
  for (std::uint32_t node = 0; node < nodes.size(); ++node)
    groups.push_back(get_groups(manager, nodes[node]));
  return nodes.hosts(groups);
}

os::FileDescriptor connect_to_guardian(const std::string& name) {
  os::FileDescriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!connection || os::connect_abstract(connection.get(), name) != 0) {
    fatal_system("cannot connect to the guardian of this host", errno);
  }
  return connection;
}

}  // namespace

Membership join_foreign(ProcessManager& manager) {
  const std::vector<std::uint32_t> node_of_ranks = manager.node_of_ranks();
  const LauncherNodes nodes(node_of_ranks, manager.size());
  // Without an account of nodes everything is for the job.
  const Reach near = node_of_ranks.empty() ? Reach::job : Reach::node;
  const PlaceInNode node = find_neighbors(manager, nodes, near);

  // The lowest rank of a host on a node looks at all nodes: another of them may be the same host.
  const std::uint32_t leader = node.neighbors.front();
  std::optional<HostParts> hosts;
  std::uint32_t first = 0;
  if (manager.rank() == leader) {
    hosts = find_hosts(manager, nodes);
    first = hosts->of(leader).ranks.front();
    put(manager, "first", std::to_string(first), near);
  }
  // All ranks agree on it: with one node, they have read the same groups.
  const bool may_have_root = nodes.size() > 1 || node.is_several_hosts;
  const bool has_root = hosts && hosts->size() > 1;
  if (may_have_root) {
    if (manager.rank() == 0 && has_root)
      put(manager, "root", launch_hook().start_root(*hosts), Reach::job);
    fence(manager, Reach::job);
  }
  if (manager.rank() == leader && first == leader) {
    const std::string root = has_root ? get(manager, 0, "root") : "";
    const std::string name = launch_hook().start_guardian(*hosts, hosts->host_of(leader), root);
    if (name.empty())
      fatal("rank 0 published an invalid address of the job's root by %s", manager.protocol());
    put(manager, "guardian", name, Reach::job);
  }
  fence(manager, Reach::job);
  first =
      static_cast<std::uint32_t>(std::strtoul(get(manager, leader, "first").c_str(), nullptr, 10));

  Membership membership;
  membership.control = connect_to_guardian(get(manager, first, "guardian")).release();
  membership.rank = manager.rank();
  membership.size = manager.size();
  return membership;
}

}  // namespace gex::job
