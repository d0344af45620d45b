// Puts of all ranks but rank 0 into rank 0's segment, for some time; measure.py starts it. With
// `both` rank 0 also puts, to rank 1.
//
//   gexrun -n RANKS --conduit udp udp_link_puts BYTES SECONDS [both]
//
// Each rank has up to 4 MiB and at least two puts under way. Rank 0 prints how many bytes have
// arrived in a second, in MB, and the most and the least of a rank.

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_under_way = std::size_t{4} << 20;
constexpr std::size_t max_events = 64;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void require(int status, const char* call) {
  if (status == GASNET_OK) return;
  std::fprintf(stderr, "udp_link_puts: %s: %s\n", call, gasnet_ErrorName(status));
  gasnet_exit(1);
}

/// Returns MB a second.
double put_for(gex_TM_t team, gex_Rank_t peer, void* to, std::size_t bytes, double seconds) {
  const std::vector<char> source(bytes, 'x');
  std::vector<gex_Event_t> events(std::clamp<std::size_t>(max_under_way / bytes, 2, max_events),
                                  GEX_EVENT_INVALID);
  std::size_t count = 0;
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds) {
    gex_Event_t& event = events[count++ % events.size()];
    gex_Event_Wait(event);
    event =
        gex_RMA_PutNB(team, peer, to, const_cast<char*>(source.data()), bytes, GEX_EVENT_DEFER, 0);
  }
  for (gex_Event_t& event : events) gex_Event_Wait(event);
  return static_cast<double>(count * bytes) / seconds_since(begin) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client{};
  gex_EP_t endpoint{};
  gex_TM_t team{};
  require(gex_Client_Init(&client, &endpoint, &team, "PUTS", &argc, &argv, 0), "gex_Client_Init");
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  const gex_Rank_t size = gex_TM_QuerySize(team);
  const std::size_t bytes = argc >= 3 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const double seconds = argc >= 3 ? std::strtod(argv[2], nullptr) : 0;
  const bool both = argc == 4 && std::string_view(argv[3]) == "both";
  if (bytes == 0 || seconds <= 0 || size < 2) {
    std::fputs("Usage: udp_link_puts BYTES SECONDS [both], two ranks or more\n", stderr);
    gasnet_exit(2);
  }
  gex_Segment_t segment{};
  require(gex_Segment_Attach(&segment, team, bytes * size), "gex_Segment_Attach");
  void* address = nullptr;
  const gex_Rank_t peer = rank == 0 ? 1 : 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, nullptr, nullptr, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  double rate = 0;
  if (rank != 0 || both)
    rate = put_for(team, peer, static_cast<char*>(address) + rank * bytes, bytes, seconds);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  double least = rank != 0 || both ? rate : 1e30;
  double sum = 0;
  double max = 0;
  const auto reduce = [&](double& result, double& operand, gex_OP_t operation) {
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, 0, &result, &operand, GEX_DT_DBL, sizeof(double), 1,
                                          operation, nullptr, nullptr, 0));
  };
  double operand = least;
  reduce(least, operand, GEX_OP_MIN);
  reduce(max, rate, GEX_OP_MAX);
  reduce(sum, rate, GEX_OP_ADD);
  if (rank == 0) std::printf("%.1f MB/s, of a rank %.1f to %.1f\n", sum, least, max);
  return 0;
}
