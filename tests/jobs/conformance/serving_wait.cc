// Waiting ranks, and the core that they spin on. One in GASNET_BLOCKUNTIL that serves others
// meanwhile spins as at first: it does not come to give up the core because the wait as a whole
// lasts. One that waits for long, in whatever call, leaves the core to others, and is woken by what
// it waits for. A program of its own, in which rank 0 sends once and finds the reply by its own
// polls.

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "require.h"

namespace {

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
constexpr std::int64_t times_slower = 4;
#else
constexpr std::int64_t times_slower = 1;
#endif

int arrived = 0;
void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, GEX_AM_INDEX_BASE + 1, 0);
}
void on_answer(gex_Token_t) {
  ++arrived;
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec time;
  REQUIRE(clock_gettime(clock, &time) == 0);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void sleep_ms(long milliseconds) {
  const timespec time{0, milliseconds * 1'000'000};
  REQUIRE(nanosleep(&time, nullptr) == 0);
}

/// Rank 0 is late, some times; the others wait meanwhile, and run for less than two hundredths of
/// the time in at least one of those: they spin for less than a millisecond, and look each 16 ms,
/// but on a busy machine a look may take long. Over a network it is a few system calls, and the
/// network may ask for more of them: three hundredths bear that. A rank that did not sleep would
/// run all the time.
template <class Late, class Wait>
void wait_long(gex_TM_t team, const char* what, int rounds, Late&& late, Wait&& wait) {
  gex_Rank_t neighbors = 0;
  gex_System_QueryNbrhdInfo(nullptr, &neighbors, nullptr);
  const std::int64_t share = (neighbors == gex_TM_QuerySize(team) ? 50 : 33) / times_slower;
  bool is_little = gex_TM_QueryRank(team) == 0;
  for (int round = 0; round < rounds; ++round) {
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (gex_TM_QueryRank(team) == 0) {
      sleep_ms(100);
      late();
      continue;
    }
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    const std::int64_t used_before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    wait();
    const std::int64_t used = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used_before;
    const std::int64_t took = nanoseconds(CLOCK_MONOTONIC) - begin;
    if (used * share <= took)
      is_little = true;
    else
      std::fprintf(stderr, "%s: %.1f ms of processor time in %.1f ms\n", what,
                   static_cast<double>(used) / 1e6, static_cast<double>(took) / 1e6);
  }
  REQUIRE(is_little);
}

void wait_long_in_each_call(gex_TM_t team) {
  const auto barrier = [team] { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); };
  wait_long(team, "a barrier", 4, barrier, barrier);
  const auto reduction = [team] {
    std::int32_t sum = 0;
    const std::int32_t one = 1;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &sum, &one, GEX_DT_I32, sizeof one, 1, GEX_OP_ADD,
                                          nullptr, nullptr, 0));
    REQUIRE(sum == static_cast<std::int32_t>(gex_TM_QuerySize(team)));
  };
  wait_long(team, "a reduction", 4, reduction, reduction);
  // It looks more often, for what puts bring, until two have been ended by messages.
  wait_long(
      team, "GASNET_BLOCKUNTIL", 6,
      [team] {
        for (gex_Rank_t rank = 1; rank < gex_TM_QuerySize(team); ++rank)
          gex_AM_RequestShort0(team, rank, GEX_AM_INDEX_BASE + 1, 0);
      },
      [] {
        GASNET_BLOCKUNTIL(arrived != 0);
        arrived = 0;
      });
}

/// The time slice of a process's first thread; 0 from kernels in which none chooses it.
std::uint64_t slice_ns(pid_t process) {
  // As in linux/sched/types.h, which old systems lack.
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t slice_ns, deadline_ns, period_ns;
  } shown{};
  REQUIRE(syscall(SYS_sched_getattr, process, &shown, sizeof shown, 0) == 0);
  return shown.slice_ns;
}

/// One that sleeps has a short time slice, so that it takes the place of others that compute when
/// it is woken: rank 0 is late until it sees that.
void have_a_short_slice(gex_TM_t team) {
  pid_t waiting = getpid();
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 1, &waiting, &waiting, sizeof waiting, 0));
  if (gex_TM_QueryRank(team) == 0 && slice_ns(0) != 0)
    while (slice_ns(waiting) > 100'000) sleep_ms(1);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

/// Rank 0 is late in a barrier, and the others are woken: by it if they are its neighbors, or by
/// the network. A sleep that nothing ends lasts for up to 16 ms, or half of that on average.
void be_woken(gex_TM_t team) {
  constexpr int rounds = 12;
  constexpr std::int64_t late = 4'000'000;
  int soon = 0;
  for (int round = 0; round < rounds; ++round) {
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (gex_TM_QueryRank(team) == 0) sleep_ms(40);
    std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    const std::int64_t end = nanoseconds(CLOCK_MONOTONIC);
    gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &begin, &begin, sizeof begin, 0));
    if (end - begin < late) ++soon;
  }
  if (2 * soon < rounds)
    std::fprintf(stderr, "rank %u was woken in %d of %d rounds\n", gex_TM_QueryRank(team), soon,
                 rounds);
  REQUIRE(2 * soon >= rounds);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "serving_wait", &argc, &argv, 0) == GASNET_OK);
  gex_AM_Entry_t table[] = {{GEX_AM_INDEX_BASE, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                             GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, nullptr, "ask"},
                            {GEX_AM_INDEX_BASE + 1, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                             GEX_FLAG_AM_REQREP | GEX_FLAG_AM_SHORT, 0, nullptr, "answer"}};
  REQUIRE(gex_EP_RegisterHandlers(endpoint, table, 2) == GASNET_OK);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (gex_TM_QueryRank(team) == 0) {
    // What GASNET_BLOCKUNTIL keeps, and calls between two polls.
    std::uint32_t turns = 0;
    gex_wait_pause_(&turns);
    gex_AM_RequestShort0(team, 1, GEX_AM_INDEX_BASE, 0);
    while (arrived == 0) {
      turns = 1000;
      gasnet_AMPoll();
    }
    gex_wait_pause_(&turns);
    REQUIRE(turns == 0);
    // Nothing has arrived since.
    gex_wait_pause_(&turns);
    REQUIRE(turns == 1);
  }
  wait_long_in_each_call(team);
  have_a_short_slice(team);
  be_woken(team);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
