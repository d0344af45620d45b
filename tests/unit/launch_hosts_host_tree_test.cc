// The tree by which hosts are started: every host has one parent, no process starts more than its
// part, and each agent divides what is below it as the root expects.

#include "launch/hosts/host_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace gex::launch {
namespace {

std::vector<std::uint32_t> first_hosts(std::uint32_t count) {
  std::vector<std::uint32_t> hosts(count);
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/// Checks the tree of a process and those of the agents that it starts. Returns the greatest number
/// of starts from that process to a host.
std::uint32_t check(const HostTree& root, const HostTree& tree, std::uint32_t self,
                    std::uint32_t fanout, std::uint32_t hosts, std::vector<int>& starts) {
  std::uint32_t children = 0;
  std::uint32_t depth = 0;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    if (tree.parent(host) != HostTree::here) continue;
    ++starts[host];
    if (host == self) continue;
    ++children;
    EXPECT_EQ(root.parent(host), self);
    const auto below = tree.below(host);
    EXPECT_TRUE(
        std::equal(below.begin(), below.end(), root.below(host).begin(), root.below(host).end()));
    for (const std::uint32_t one : below) EXPECT_EQ(tree.first_hop(one), host);
    --starts[host];
    const std::uint32_t own[] = {host};
    const HostTree next(hosts, own, below, fanout);
    depth = std::max(depth, 1 + check(root, next, host, fanout, hosts, starts));
  }
  EXPECT_LE(children, fanout);
  return depth;
}

bool has_branches(const HostTree& tree, std::uint32_t hosts) {
  const auto all = first_hosts(hosts);
  return std::ranges::any_of(all, [&](std::uint32_t host) { return tree.is_branch(host); });
}

TEST(HostTree, HasEveryHostOnceInTheLeastNumberOfLevels) {
  struct Case {
    std::uint32_t hosts, fanout, depth;
  };
  for (const Case& one : {Case{1, 32, 1},
                          {32, 32, 1},
                          {33, 32, 2},
                          {1024, 32, 2},
                          {8, 2, 3},
                          {6, 2, 2},
                          {5, 1, 5},
                          {1000, 10, 3}}) {
    const auto hosts = first_hosts(one.hosts);
    const HostTree root(one.hosts, {}, hosts, one.fanout);
    EXPECT_EQ(has_branches(root, one.hosts), one.depth > 1);
    EXPECT_EQ(root.height(), one.depth);
    std::vector<int> starts(one.hosts);
    EXPECT_EQ(check(root, root, HostTree::here, one.fanout, one.hosts, starts), one.depth);
    EXPECT_EQ(starts, std::vector<int>(one.hosts, 1)) << one.hosts << ' ' << one.fanout;
  }
}

TEST(HostTree, IsFlatWithoutALimit) {
  const auto hosts = first_hosts(100);
  EXPECT_FALSE(has_branches(HostTree(100, {}, hosts, 0), 100));
  EXPECT_EQ(HostTree(100).first_hop(99), 99u);
}

TEST(HostTree, LeavesSingleHostsAloneAndTakesOthersOver) {
  const std::uint32_t single[] = {0};
  const std::uint32_t rest[] = {1, 2, 3, 4, 5};
  HostTree tree(7, single, rest, 1);
  EXPECT_EQ(tree.parent(0), HostTree::here);
  EXPECT_TRUE(tree.below(0).empty());
  EXPECT_EQ(tree.parent(6), HostTree::nowhere);
  EXPECT_EQ(tree.first_hop(5), 1u);
  EXPECT_TRUE(tree.is_through(3, 5));
  EXPECT_FALSE(tree.is_through(5, 3));
  EXPECT_FALSE(tree.is_through(1, 6));
  job::HostParts hosts;
  for (int i = 0; i < 7; ++i) hosts.add("host");
  for (const std::uint32_t host : {5, 0, 6, 2, 0}) hosts.place_next(host);
  EXPECT_EQ(tree.ranks_by_first_hop(hosts),
            (std::vector<job::RankSet>{{1, 4}, {0, 3}, {}, {}, {}, {}, {}}));
  tree.take_over(3);
  EXPECT_EQ(tree.first_hop(5), 3u);
  EXPECT_EQ(tree.first_hop(2), 1u);
  EXPECT_EQ(tree.ranks_by_first_hop(hosts),
            (std::vector<job::RankSet>{{1, 4}, {3}, {}, {0}, {}, {}, {}}));
}

}  // namespace
}  // namespace gex::launch
