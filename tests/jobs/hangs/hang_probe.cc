// A program that hangs in the way that its argument names, until it is ended:
//
//   hang_probe WAY FOLDER [SECONDS]
//
// Ranks print "ready" before they do, once everything that they do together before is over. FOLDER
// is one that all ranks see, and empty. `computes` goes on for SECONDS and then ends with success.

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnetex.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace {

gex_TM_t team;
gex_Rank_t self;
gex_Rank_t size;
gex_EP_t endpoint;
std::byte* segment_of_peer;
void* own_segment;
volatile int never = 0;
gex_HSL_t lock = GEX_HSL_INITIALIZER;

constexpr gex_AM_Index_t silent = GEX_AM_INDEX_BASE;
constexpr gex_AM_Index_t endless = GEX_AM_INDEX_BASE + 1;

void on_silent(gex_Token_t) {
}
void on_endless(gex_Token_t) {
  while (never == 0) {
  }
}

/// By which rank 1 shows that it has left the barrier before.
std::string away_file;

void show_away() {
  if (std::FILE* const file = std::fopen(away_file.c_str(), "w")) std::fclose(file);
}

void run_without_polls() {
  show_away();
  while (never == 0) {
  }
}

/// Before rank 0 asks it for what no rank is to answer: of the barrier before, rank 0 may be out
/// while rank 1 still polls for it, which may need polls of rank 0.
void wait_until_the_peer_is_away() {
  while (access(away_file.c_str(), F_OK) != 0) gasnet_AMPoll();
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

gex_Rank_t peer() {
  return (self + 1) % size;
}

// Rank 0 is the victim wherever there is one.

void missing_barrier() {
  if (self == 1) run_without_polls();
  barrier();
}
void missing_barrier_sleeping() {
  // Any signal that a handler takes ends a sleep.
  if (self == 1) {
    sleep(3600);
    std::puts("woken");
    std::fflush(stdout);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}
void mismatched_collective() {
  std::uint64_t value = self;
  std::uint64_t result = 0;
  if (self == 0)
    gex_Event_Wait(gex_Coll_BroadcastNB(team, 1, &result, &value, sizeof value, 0));
  else
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, 1, &result, &value, GEX_DT_U64, sizeof value, 1,
                                          GEX_OP_ADD, nullptr, nullptr, 0));
}
void missing_collective() {
  std::uint64_t value = self;
  if (self == 1) run_without_polls();
  gasnet_coll_wait_sync(
      gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &value, 1, &value, sizeof value,
                               GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL));
}
void barrier_against_collective() {
  std::uint64_t value = self;
  std::uint64_t result = 0;
  if (self == 0) barrier();
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &result, &value, GEX_DT_U64, sizeof value, 1,
                                        GEX_OP_ADD, nullptr, nullptr, 0));
}
void endless_handler() {
  if (self == 1) {
    show_away();
  } else {
    wait_until_the_peer_is_away();
    gex_AM_RequestShort0(team, 1, endless, 0);
    barrier();
  }
  GASNET_BLOCKUNTIL(never != 0);
}
void lost_reply() {
  if (self == 0) {
    gex_AM_RequestShort0(team, 1, silent, 0);
    // The handler that would set it is not there.
    GASNET_BLOCKUNTIL(never != 0);
  }
  run_without_polls();
}
void no_polls_while_messages_come() {
  if (self == 1) run_without_polls();
  for (;;) gex_AM_RequestShort0(team, 1, silent, 0);
}
void stopped() {
  if (self == 1) raise(SIGSTOP);
  barrier();
}
void barriers_crossed(gex_TM_t first, gex_TM_t second) {
  gex_Event_Wait(gex_Coll_BarrierNB(self == 0 ? first : second, 0));
  barrier();
}
void crossed_teams() {
  gex_TM_t teams[2];
  for (gex_TM_t& one : teams) gex_TM_Split(&one, team, 0, static_cast<int>(self), nullptr, 0, 0);
  barriers_crossed(teams[0], teams[1]);
}
void missing_split() {
  if (self == 1) run_without_polls();
  gex_TM_t made;
  gex_TM_Split(&made, team, 0, 0, nullptr, 0, 0);
}
void missing_notify() {
  if (self == 1) run_without_polls();
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}
/// Over a network that needs the peer's polls a get is not answered.
void unanswered_get() {
  if (self == 1) run_without_polls();
  wait_until_the_peer_is_away();
  std::uint64_t value = 0;
  gex_RMA_GetBlocking(team, &value, 1, segment_of_peer, sizeof value, 0);
}
void unanswered_implicit_puts() {
  if (self == 1) run_without_polls();
  wait_until_the_peer_is_away();
  std::uint64_t values[4] = {};
  for (std::uint64_t& value : values)
    gex_RMA_PutNBI(team, 1, segment_of_peer, &value, sizeof value, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
void unanswered_put_that_is_tested() {
  if (self == 1) run_without_polls();
  wait_until_the_peer_is_away();
  std::uint64_t value = 0;
  const gex_Event_t event =
      gex_RMA_PutNB(team, 1, segment_of_peer, &value, sizeof value, GEX_EVENT_DEFER, 0);
  while (gex_Event_Test(event) != GASNET_OK) gasnet_AMPoll();
}
void forgotten_lock() {
  if (self == 1) {
    std::thread([] { gex_HSL_Lock(&lock); }).join();
    gex_HSL_Lock(&lock);
  }
  barrier();
}

double seconds = 0;
void computes() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// No rank waits in the library, and nothing will ever arrive.
void polls_for_nothing() {
  if (self == 0) gex_NBI_BeginAccessRegion(0);
  while (never == 0) gasnet_AMPoll();
}
/// Each waits in a loop of polls for a flag which the other puts, inline where memory is shared.
void polls_that_progress() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  auto* const flag = reinterpret_cast<volatile std::uint64_t*>(own_segment);
  for (std::uint64_t turn = 1;; ++turn) {
    // The last turn ends alike for both.
    const std::uint64_t last = std::uint64_t{1} << 63;
    std::uint64_t word = turn;
    if (self == 0 && std::chrono::steady_clock::now() > end) word |= last;
    if (self == 0) gex_RMA_PutBlocking(team, 1, segment_of_peer, &word, sizeof word, 0);
    while ((*flag & ~last) != turn) gasnet_AMPoll();
    if (self == 1) {
      word = *flag;
      gex_RMA_PutBlocking(team, 0, segment_of_peer, &word, sizeof word, 0);
    }
    if ((word & last) != 0) return;
  }
}
/// Rank 1 leaves without sending what rank 0 waits for.
void peer_has_left() {
  if (self == 1) std::exit(0);
  GASNET_BLOCKUNTIL(never != 0);
}

void computes_and_waits() {
  if (self == 1) computes();
  barrier();
}

const std::map<std::string, std::function<void()>> ways = {
    {"missing_barrier", missing_barrier},
    {"missing_barrier_sleeping", missing_barrier_sleeping},
    {"missing_collective", missing_collective},
    {"mismatched_collective", mismatched_collective},
    {"barrier_against_collective", barrier_against_collective},
    {"endless_handler", endless_handler},
    {"lost_reply", lost_reply},
    {"no_polls_while_messages_come", no_polls_while_messages_come},
    {"stopped", stopped},
    {"crossed_teams", crossed_teams},
    {"missing_split", missing_split},
    {"missing_notify", missing_notify},
    {"unanswered_get", unanswered_get},
    {"unanswered_implicit_puts", unanswered_implicit_puts},
    {"unanswered_put_that_is_tested", unanswered_put_that_is_tested},
    {"forgotten_lock", forgotten_lock},
    {"polls_for_nothing", polls_for_nothing},
    {"polls_that_progress", polls_that_progress},
    {"peer_has_left", peer_has_left},
    {"computes", computes},
    {"computes_and_waits", computes_and_waits},
};

}  // namespace

int main(int count, char** arguments) {
  const auto way = count >= 3 ? ways.find(arguments[1]) : ways.end();
  if (way == ways.end()) {
    std::fprintf(stderr, "usage: hang_probe WAY FOLDER [SECONDS]\n");
    return 2;
  }
  away_file = std::string(arguments[2]) + "/away";
  if (count >= 4) seconds = std::atof(arguments[3]);
  // libgex raises SIGQUIT only in ranks that catch it, a second before SIGTERM: this ends them at
  // once. One way is ended as clients are that do not catch it.
  if (way->first != "crossed_teams") std::signal(SIGQUIT, [](int) { _exit(1); });
  gex_Client_t client;
  gex_Client_Init(&client, &endpoint, &team, "HANG_PROBE", &count, &arguments,
                  GEX_FLAG_USES_GASNET1);
  self = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  gex_AM_Entry_t handlers[] = {{silent, reinterpret_cast<gex_AM_Fn_t>(on_silent),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "silent"},
                               {endless, reinterpret_cast<gex_AM_Fn_t>(on_endless),
                                GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "endless"}};
  gex_EP_RegisterHandlers(endpoint, handlers, 2);
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, team, 65536);
  void* address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer(), &address, nullptr, nullptr, 0));
  segment_of_peer = static_cast<std::byte*>(address);
  own_segment = gex_Segment_QueryAddr(segment);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  std::puts("ready");
  std::fflush(stdout);
  way->second();
  gasnet_exit(0);
}
