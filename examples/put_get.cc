// Every rank puts a block of numbers into its right neighbour's segment, sums the block that came
// from its left, and gets the sum its left neighbour computed to check it.

#include <gasnetex.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

namespace {

constexpr std::size_t count = 1000;

// What a rank's segment holds.
struct Mailbox {
  std::uint64_t block[count];
  std::uint64_t sum;
};

Mailbox* mailbox_of(gex_TM_t team, gex_Rank_t rank) {
  void* address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &address, nullptr, nullptr, 0));
  return static_cast<Mailbox*>(address);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Client_Init(&client, &endpoint, &team, "PUT_GET", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, (sizeof(Mailbox) / GASNET_PAGESIZE + 1) * GASNET_PAGESIZE);

  const gex_Rank_t ranks = gex_TM_QuerySize(team);
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const gex_Rank_t right = (me + 1) % ranks;
  const gex_Rank_t left = (me + ranks - 1) % ranks;
  auto* mine = static_cast<Mailbox*>(gex_Segment_QueryAddr(segment));

  // Implicit puts: the source is ours again when local completion is reached, the data is at the
  // target when the put category is.
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), me * count);
  gex_RMA_PutNBI(team, right, mailbox_of(team, right)->block, numbers.data(),
                 count * sizeof numbers[0], GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  const std::span<const std::uint64_t> received(mine->block, count);
  mine->sum = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  std::uint64_t sum_of_left = 0;
  gex_Event_Wait(
      gex_RMA_GetNB(team, &sum_of_left, left, &mailbox_of(team, left)->sum, sizeof sum_of_left, 0));

  // The left neighbour summed the block of the rank to its own left.
  const std::uint64_t writer = (left + ranks - 1) % ranks;
  const std::uint64_t expected = writer * count * count + count * (count - 1) / 2;
  std::printf("rank %u: rank %u summed %llu, expected %llu\n", static_cast<unsigned>(me),
              static_cast<unsigned>(left), static_cast<unsigned long long>(sum_of_left),
              static_cast<unsigned long long>(expected));
  // gasnet_exit ends the job at once; no rank calls it before all have printed.
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(sum_of_left == expected ? 0 : 1);
}
