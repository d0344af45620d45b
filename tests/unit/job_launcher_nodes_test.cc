// Which ranks of a foreign launcher's job are on which host.

#include "job/launcher_nodes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gex::job {
namespace {

using Strings = std::vector<std::string>;

/// Each host's name and ranks.
std::vector<std::pair<std::string, RankSet>> listed(const HostParts& hosts) {
  std::vector<std::pair<std::string, RankSet>> all;
  for (const HostPart& host : hosts) all.emplace_back(host.name, host.ranks);
  return all;
}
using Listed = decltype(listed({}));

TEST(NodeHosts, AreOneGroupForEachIdentity) {
  const NodeHosts groups = group_by_host(Strings{"b/1/4", "a/1/5", "b/1/4", "b/1/6"});
  EXPECT_EQ(groups.identities, (Strings{"b/1/4", "a/1/5", "b/1/6"}));
  EXPECT_EQ(groups.host_of, (std::vector<std::uint32_t>{0, 1, 0, 2}));
}

TEST(NodeHosts, AreTheSameAfterTheWayThroughText) {
  for (const Strings& identities :
       {Strings{"a/1"}, Strings{"a/1", "a/1", "a/1"}, Strings{"a/1", "b/1"},
        Strings{"b.c-d/1/2/3", "a/1", "b.c-d/1/2/3"}}) {
    const NodeHosts groups = group_by_host(identities);
    const auto ranks = static_cast<std::uint32_t>(identities.size());
    EXPECT_EQ(node_hosts(text_of(groups), ranks), groups) << text_of(groups);
  }
  EXPECT_EQ(text_of(group_by_host(Strings(128, "node7/boot/1/2"))), "node7/boot/1/2");
}

TEST(NodeHosts, AreRefusedIfTheTextIsNotOfTheNode) {
  for (const char* const text : {"", "a/1,b/1", "a/1,b/1:0.1.1", "a/1,b/1:0.2", "a/1,b/1:0.x",
                                 "a/1,b/1:0.", "a/1,b/1:0.99999999999"})
    EXPECT_EQ(node_hosts(text, 2), std::nullopt) << text;
}

TEST(LauncherNodes, AreNumberedInTheOrderOfTheirLowestRanks) {
  const LauncherNodes nodes(std::vector<std::uint32_t>{7, 3, 7, 5}, 4);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0], (RankSet{0, 2}));
  EXPECT_EQ(nodes[1], (RankSet{1}));
  EXPECT_EQ(nodes[2], (RankSet{3}));
  EXPECT_EQ(nodes.of(2), 0U);
  EXPECT_EQ(nodes.of(3), 2U);
}

TEST(LauncherNodes, AreHosts) {
  const LauncherNodes nodes(std::vector<std::uint32_t>{0, 1, 0, 1}, 4);
  const std::vector<NodeHosts> groups = {group_by_host(Strings{"a/1", "a/1"}),
                                         group_by_host(Strings{"b/1", "b/1"})};
  EXPECT_EQ(listed(nodes.hosts(groups)), (Listed{{"a", {0, 2}}, {"b", {1, 3}}}));
}

TEST(LauncherNodes, AreSeveralHostsWhereRanksAreInContainers) {
  const LauncherNodes nodes({}, 5);
  ASSERT_EQ(nodes.size(), 1U);
  const std::vector<NodeHosts> groups = {group_by_host(Strings{"a/1", "b/1", "a/1", "b/1", "c/1"})};
  EXPECT_EQ(listed(nodes.hosts(groups)), (Listed{{"a", {0, 2}}, {"b", {1, 3}}, {"c", {4}}}));
}

TEST(LauncherNodes, AreOneHostWhereTwoAreNamesOfOneMachine) {
  const LauncherNodes nodes(std::vector<std::uint32_t>{0, 0, 1, 2}, 4);
  const std::vector<NodeHosts> groups = {group_by_host(Strings{"a/1", "b/2"}),
                                         group_by_host(Strings{"b/2"}),
                                         group_by_host(Strings{"a/1"})};
  EXPECT_EQ(listed(nodes.hosts(groups)), (Listed{{"a", {0, 3}}, {"b", {1, 2}}}));
}

}  // namespace
}  // namespace gex::job
