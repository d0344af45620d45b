// GEX_FLAG_LC_COPY_YES of a put that a network takes from its source: up to a bound it is sent from
// a copy, and the source may be reused on return; a larger one is not copied. A program of its own
// since it takes a large segment.

#include <gasnetex.h>

#include <vector>

#include "require.h"

namespace {

gex_TM_t team;

constexpr std::size_t bound = std::size_t{16} << 20;

/// Returns true if the source of such a put may be reused on return. Nothing polls between.
bool is_reusable_at_once(void* to, const std::vector<char>& source, std::size_t bytes) {
  const gex_Rank_t peer = 1 - gex_TM_QueryRank(team);
  gex_Event_t local = GEX_EVENT_INVALID;
  const gex_Event_t put =
      gex_RMA_PutNB(team, peer, to, source.data(), bytes, &local, GEX_FLAG_LC_COPY_YES);
  REQUIRE(put != GEX_EVENT_INVALID);
  const bool reusable = local == GEX_EVENT_INVALID || gex_Event_Test(local) == GASNET_OK;
  if (!reusable) gex_Event_Wait(local);
  gex_Event_Wait(put);
  return reusable;
}

}  // namespace

int main(int argc, char** argv) {
  gex_EP_t endpoint = GEX_EP_INVALID;
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  if (gex_Client_Init(&client, &endpoint, &team, "SOURCE_COPIES", &argc, &argv, 0) != GASNET_OK)
    return 1;
  REQUIRE(gex_Segment_Attach(&segment, team, 2 * bound) == GASNET_OK);
  void* peers = nullptr;
  gex_Event_Wait(
      gex_EP_QueryBoundSegmentNB(team, 1 - gex_TM_QueryRank(team), &peers, nullptr, nullptr, 0));
  const std::vector<char> source(bound + 4096);
  for (int again = 0; again < 2; ++again) {
    REQUIRE(is_reusable_at_once(peers, source, 4096));
    REQUIRE(is_reusable_at_once(peers, source, bound));
    REQUIRE(!is_reusable_at_once(peers, source, bound + 1));
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
