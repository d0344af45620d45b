// The job, its hosts and neighborhoods, in every layout; limits of the process.

#include <algorithm>
#include <cstdlib>
#include <set>

#include "conformance.h"

namespace conformance::system_test {
namespace {

using Query = void (*)(gex_RankInfo_t**, gex_Rank_t*, gex_Rank_t*);

/// The jobranks a query names, checked for its promises.
std::vector<gex_Rank_t> members(Query query) {
  gex_RankInfo_t* table = nullptr;
  gex_Rank_t count = 0;
  gex_Rank_t own = GEX_RANK_INVALID;
  query(&table, &count, &own);
  std::vector<gex_Rank_t> ranks;
  for (gex_Rank_t i = 0; i < count; ++i) ranks.push_back(table[i].gex_jobrank);
  EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
  EXPECT_EQ(std::adjacent_find(ranks.begin(), ranks.end()), ranks.end());
  EXPECT_LT(own, count);
  if (own < count) {
    EXPECT_EQ(ranks[own], gex_System_QueryJobRank());
  }
  // One table each time, and every output may be left out.
  gex_RankInfo_t* again = nullptr;
  query(&again, nullptr, nullptr);
  EXPECT_EQ(again, table);
  gex_Rank_t count_again = 0;
  query(nullptr, &count_again, nullptr);
  EXPECT_EQ(count_again, count);
  query(nullptr, nullptr, nullptr);
  return ranks;
}

struct Position {
  gex_Rank_t neighborhoods, neighborhood, hosts, host;
  gex_Rank_t neighborhood_size, host_size;
  gex_Rank_t first_of_neighborhood, first_of_host;
};

Position position() {
  Position own{};
  gex_System_QueryMyPosition(&own.neighborhoods, &own.neighborhood, &own.hosts, &own.host);
  const std::vector<gex_Rank_t> neighborhood = members(gex_System_QueryNbrhdInfo);
  const std::vector<gex_Rank_t> host = members(gex_System_QueryHostInfo);
  own.neighborhood_size = static_cast<gex_Rank_t>(neighborhood.size());
  own.host_size = static_cast<gex_Rank_t>(host.size());
  own.first_of_neighborhood = neighborhood.at(0);
  own.first_of_host = host.at(0);
  return own;
}

TEST(System, JobRankAndSize) {
  EXPECT_EQ(gex_System_QueryJobRank(), rank());
  EXPECT_EQ(gex_System_QueryJobSize(), size());
}

TEST(System, ANeighborhoodIsPartOfAHost) {
  const std::vector<gex_Rank_t> neighborhood = members(gex_System_QueryNbrhdInfo);
  const std::vector<gex_Rank_t> host = members(gex_System_QueryHostInfo);
  EXPECT_TRUE(std::includes(host.begin(), host.end(), neighborhood.begin(), neighborhood.end()));
}

TEST(System, AllAgreeOnWhoIsWhere) {
  const std::vector<Position> all = gather(position());
  std::set<gex_Rank_t> neighborhoods, hosts;
  for (gex_Rank_t a = 0; a < size(); ++a) {
    EXPECT_EQ(all[a].neighborhoods, all[0].neighborhoods);
    EXPECT_EQ(all[a].hosts, all[0].hosts);
    EXPECT_LT(all[a].neighborhood, all[a].neighborhoods);
    EXPECT_LT(all[a].host, all[a].hosts);
    neighborhoods.insert(all[a].neighborhood);
    hosts.insert(all[a].host);
    for (gex_Rank_t b = 0; b < size(); ++b) {
      EXPECT_EQ(all[a].neighborhood == all[b].neighborhood,
                all[a].first_of_neighborhood == all[b].first_of_neighborhood);
      EXPECT_EQ(all[a].host == all[b].host, all[a].first_of_host == all[b].first_of_host);
      if (all[a].neighborhood == all[b].neighborhood) {
        EXPECT_EQ(all[a].neighborhood_size, all[b].neighborhood_size);
        EXPECT_EQ(all[a].host, all[b].host);
      }
    }
  }
  EXPECT_EQ(neighborhoods.size(), all[0].neighborhoods);
  EXPECT_EQ(hosts.size(), all[0].hosts);
  gex_System_QueryMyPosition(nullptr, nullptr, nullptr, nullptr);
}

TEST(System, NeighborhoodsAreAsLargeAsTheyMayBe) {
  const char* text = std::getenv("GASNET_SUPERNODE_MAXSIZE");
  const auto limit = static_cast<gex_Rank_t>(text == nullptr ? 0 : std::atoi(text));
  const std::vector<Position> all = gather(position());
  for (const Position& each : all) {
    if (limit != 0) {
      EXPECT_LE(each.neighborhood_size, limit);
    } else {
      EXPECT_EQ(each.neighborhood_size, each.host_size);
    }
  }
  if (limit != 0) {
    const gex_Rank_t host_size = all[0].host_size;
    EXPECT_EQ(all[0].neighborhood_size, std::min(limit, host_size));
  }
}

TEST(System, NodeInfoAgrees) {
  std::vector<gasnet_nodeinfo_t> nodes(size());
  ASSERT_EQ(gasnet_getNodeInfo(nodes.data(), static_cast<int>(size())), GASNET_OK);
  const std::vector<Position> all = gather(position());
  for (gex_Rank_t a = 0; a < size(); ++a) {
    for (gex_Rank_t b = 0; b < size(); ++b) {
      EXPECT_EQ(nodes[a].host == nodes[b].host, all[a].host == all[b].host);
      EXPECT_EQ(nodes[a].supernode == nodes[b].supernode,
                all[a].neighborhood == all[b].neighborhood);
    }
    if (all[a].neighborhood != all[rank()].neighborhood) continue;
    // The offset leads from the owner's address to ours.
    void* local = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), a, nullptr, &local, nullptr, 0));
    EXPECT_EQ(reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(segment_of(a)) +
                                           nodes[a].offset),
              local);
  }
  // Fewer entries than ranks: no more are written.
  std::vector<gasnet_nodeinfo_t> few(2);
  few[1].host = 12345;
  EXPECT_EQ(gasnet_getNodeInfo(few.data(), 1), GASNET_OK);
  EXPECT_EQ(few[1].host, 12345U);
}

TEST(System, VerboseErrorsSwitch) {
  EXPECT_EQ(gex_System_GetVerboseErrors(), 1)
      << "lines are printed unless a client chooses otherwise";
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_System_GetVerboseErrors(), 0);
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(gex_System_GetVerboseErrors(), 1);
}

TEST(System, ThreadsAndConcurrency) {
  if (mode == Mode::seq) {
    EXPECT_EQ(gex_System_QueryMaxThreads(), 1U);
  } else {
    EXPECT_GE(gex_System_QueryMaxThreads(), 2U);
  }
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), GASNET_HIDDEN_AM_CONCURRENCY_LEVEL);
  EXPECT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), 0);
}

TEST(System, ProgressThreadsAreRefusedToAClientThatDidNotAsk) {
  unsigned count = 7;
  const gex_ProgressThreadInfo_t* info = nullptr;
  EXPECT_EQ(gex_System_QueryProgressThreads(client(), nullptr, &info, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_System_QueryProgressThreads(client(), &count, nullptr, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_System_QueryProgressThreads(client(), &count, &info, 1), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_System_QueryProgressThreads(client(), &count, &info, 0), GASNET_ERR_RESOURCE);
  EXPECT_EQ(count, 7U);
}

}  // namespace
}  // namespace conformance::system_test
