#include "launch/hosts/host_tree.h"

#include <algorithm>
#include <cstddef>

namespace gex::launch {

HostTree::HostTree(std::uint32_t hosts, std::span<const std::uint32_t> single,
                   std::span<const std::uint32_t> rest, std::uint32_t fanout)
    : parents_(hosts, nowhere), below_(hosts) {
  for (const std::uint32_t host : single) parents_[host] = here;
  divide(here, rest, fanout);
}

void HostTree::divide(std::uint32_t parent, std::span<const std::uint32_t> hosts,
                      std::uint32_t fanout) {
  const std::size_t parts =
      fanout == 0 ? hosts.size() : std::min<std::size_t>(fanout, hosts.size());
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t size = hosts.size() / parts + (part < hosts.size() % parts ? 1 : 0);
    const std::size_t begin = part * (hosts.size() / parts) + std::min(part, hosts.size() % parts);
    const std::span<const std::uint32_t> below = hosts.subspan(begin + 1, size - 1);
    const std::uint32_t first = hosts[begin];
    parents_[first] = parent;
    if (below.empty()) continue;
    below_[first].assign(below.begin(), below.end());
    divide(first, below, fanout);
  }
}

std::uint32_t HostTree::first_hop(std::uint32_t host) const {
  while (parents_[host] != here) host = parents_[host];
  return host;
}

bool HostTree::is_through(std::uint32_t way, std::uint32_t host) const {
  while (host != way && host < parents_.size()) host = parents_[host];
  return host == way;
}

std::vector<std::uint32_t> HostTree::through(std::uint32_t way) const {
  std::vector<std::uint32_t> found{way};
  for (const std::uint32_t host : below_[way])
    if (is_through(way, host)) found.push_back(host);
  return found;
}

std::uint32_t HostTree::height() const {
  std::uint32_t max = 0;
  for (std::uint32_t host = 0; host < parents_.size(); ++host) {
    if (parents_[host] == nowhere) continue;
    std::uint32_t starts = 1;
    for (std::uint32_t at = host; parents_[at] != here; at = parents_[at]) ++starts;
    max = std::max(max, starts);
  }
  return max;
}

std::vector<job::RankSet> HostTree::ranks_by_first_hop(const job::HostParts& hosts) const {
  std::vector<job::RankSet> found(parents_.size());
  for (std::uint32_t rank = 0; rank < hosts.ranks(); ++rank) {
    const std::uint32_t host = hosts.host_of(rank);
    if (parents_[host] != nowhere) found[first_hop(host)].add(rank);
  }
  return found;
}

}  // namespace gex::launch
