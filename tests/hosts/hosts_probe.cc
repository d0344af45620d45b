// Reports where each rank is, by the library's word, after it has reached every other over the
// network.

#include <gasnetex.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

[[noreturn]] void fail(const char* what) {
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
  gasnet_exit(1);
  __builtin_unreachable();
}

/// Returns true if `rank` is at its index among the ranks that a query answered with, which rise.
bool holds(gex_RankInfo_t* ranks, gex_Rank_t count, gex_Rank_t mine, gex_Rank_t rank) {
  for (gex_Rank_t i = 1; i < count; ++i) {
    if (ranks[i - 1].gex_jobrank >= ranks[i].gex_jobrank) return false;
  }
  return mine < count && ranks[mine].gex_jobrank == rank;
}

std::string text_of(gex_RankInfo_t* ranks, gex_Rank_t count) {
  std::string text;
  for (gex_Rank_t i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(ranks[i].gex_jobrank);
  }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Client_Init(&client, &endpoint, &team, "HOSTS", &count, &arguments, 0);
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, team, 1 << 16);
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  const gex_Rank_t size = gex_TM_QuerySize(team);

  auto* const mine = static_cast<std::uint64_t*>(gex_Segment_QueryAddr(segment));
  mine[rank] = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (gex_Rank_t peer = 0; peer < size; ++peer) {
    void* address = nullptr;
    gex_Segment_QueryBound(team, peer, &address, nullptr, nullptr);
    const std::uint64_t value = rank + 1;
    gex_RMA_PutBlocking(team, peer, static_cast<std::uint64_t*>(address) + rank,
                        const_cast<std::uint64_t*>(&value), sizeof value, 0);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (gex_Rank_t peer = 0; peer < size; ++peer) {
    if (mine[peer] != peer + 1) fail("a put did not arrive");
  }

  gex_RankInfo_t* host = nullptr;
  gex_RankInfo_t* neighborhood = nullptr;
  gex_Rank_t host_size = 0;
  gex_Rank_t host_index = 0;
  gex_Rank_t neighborhood_size = 0;
  gex_Rank_t neighborhood_index = 0;
  gex_System_QueryHostInfo(&host, &host_size, &host_index);
  gex_System_QueryNbrhdInfo(&neighborhood, &neighborhood_size, &neighborhood_index);
  gex_Rank_t neighborhoods = 0;
  gex_Rank_t hosts = 0;
  gex_System_QueryMyPosition(&neighborhoods, nullptr, &hosts, nullptr);
  if (!holds(host, host_size, host_index, rank)) fail("this rank is not on its host");
  if (!holds(neighborhood, neighborhood_size, neighborhood_index, rank)) {
    fail("this rank is not in its neighborhood");
  }
  // The neighbors' segments, and no others', are mapped.
  for (gex_Rank_t peer = 0; peer < size; ++peer) {
    void* local = nullptr;
    gex_Segment_QueryBound(team, peer, nullptr, &local, nullptr);
    const bool near = std::any_of(neighborhood, neighborhood + neighborhood_size,
                                  [peer](auto& member) { return member.gex_jobrank == peer; });
    if (near != (local != nullptr)) fail("other segments are mapped than the neighborhood's");
  }
  std::printf("rank %u: hosts %u, neighborhoods %u, host %s, neighborhood %s\n", rank, hosts,
              neighborhoods, text_of(host, host_size).c_str(),
              text_of(neighborhood, neighborhood_size).c_str());
  return 0;
}
