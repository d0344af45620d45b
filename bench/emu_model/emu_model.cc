// What puts, gets and messages between two ranks take over emu; the model is GEX_EMU's, and only
// compare.py knows what it says. Rank 0 prints a line for each: operation, bytes, nanoseconds (the
// median).
//
//   GEX_CONDUIT=emu GASNET_SUPERNODE_MAXSIZE=1 gexrun -n 2 emu_model [ROUNDS]

#include <gasnetex.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::size_t largest = 1 << 20;
/// Of one round.
constexpr double least_ns = 5e6;

enum Handler : gex_AM_Index_t { take = 200, taken };

gex_TM_t team;
std::byte* theirs;  ///< rank 1's segment
std::byte* mine;    ///< this rank's, behind what others write: it needs no registration
std::uint64_t answers = 0;

void on_take(gex_Token_t token, void*, std::size_t) {
  gex_AM_ReplyShort0(token, taken, 0);
}
void on_taken(gex_Token_t) {
  ++answers;
}

double now_ns() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

/// What one of `operation(n)` takes, each round as many as take a while.
template <class Operation>
double median_ns(int rounds, Operation operation) {
  std::uint64_t count = 1;
  for (;;) {
    const double begun = now_ns();
    operation(count);
    if (now_ns() - begun >= least_ns) break;
    count *= 2;
  }
  std::vector<double> each;
  for (int round = 0; round < rounds; ++round) {
    const double begun = now_ns();
    operation(count);
    each.push_back((now_ns() - begun) / static_cast<double>(count));
  }
  std::nth_element(each.begin(), each.begin() + rounds / 2, each.end());
  return each[static_cast<std::size_t>(rounds) / 2];
}

void wait_for_answers(std::uint64_t count) {
  const std::uint64_t expected = count;
  GASNET_BLOCKUNTIL(answers == expected);
}

void measure(int rounds) {
  const auto tell = [](const char* name, std::size_t bytes, double ns) {
    std::printf("%s %zu %.1f\n", name, bytes, ns);
    std::fflush(stdout);
  };
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{65536}, largest}) {
    tell("put", bytes, median_ns(rounds, [&](std::uint64_t count) {
           for (std::uint64_t i = 0; i < count; ++i)
             gex_RMA_PutBlocking(team, 1, theirs, mine, bytes, 0);
         }));
    tell("get", bytes, median_ns(rounds, [&](std::uint64_t count) {
           for (std::uint64_t i = 0; i < count; ++i)
             gex_RMA_GetBlocking(team, mine, 1, theirs, bytes, 0);
         }));
  }
  for (const std::size_t bytes : {std::size_t{65536}, largest}) {
    tell("put-flood", bytes, median_ns(rounds, [&](std::uint64_t count) {
           for (std::uint64_t i = 0; i < count; ++i)
             gex_RMA_PutNBI(team, 1, theirs, mine, bytes, GEX_EVENT_DEFER, 0);
           gex_NBI_Wait(GEX_EC_PUT, 0);
         }));
    tell("get-flood", bytes, median_ns(rounds, [&](std::uint64_t count) {
           for (std::uint64_t i = 0; i < count; ++i)
             gex_RMA_GetNBI(team, mine, 1, theirs, bytes, 0);
           gex_NBI_Wait(GEX_EC_GET, 0);
         }));
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}}) {
    tell("message", bytes, median_ns(rounds, [&](std::uint64_t count) {
           for (std::uint64_t i = 0; i < count; ++i) {
             const std::uint64_t before = answers;
             gex_AM_RequestMedium0(team, 1, take, mine, bytes, GEX_EVENT_NOW, 0);
             wait_for_answers(before + 1);
           }
         }));
  }
  tell("message-flood", 8192, median_ns(rounds, [&](std::uint64_t count) {
         const std::uint64_t before = answers;
         for (std::uint64_t i = 0; i < count; ++i)
           gex_AM_RequestMedium0(team, 1, take, mine, 8192, GEX_EVENT_NOW, 0);
         wait_for_answers(before + count);
       }));
}

}  // namespace

int main(int count, char** arguments) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Client_Init(&client, &endpoint, &team, "EMUMODEL", &count, &arguments, 0);
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  if (gex_TM_QuerySize(team) != 2 || rounds < 1) {
    if (gex_TM_QueryRank(team) == 0)
      std::fprintf(stderr, "emu_model: it takes two ranks, and at least one round\n");
    gasnet_exit(1);
  }
  gex_AM_Entry_t handlers[] = {{take, reinterpret_cast<gex_AM_Fn_t>(on_take),
                                GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, nullptr, nullptr},
                               {taken, reinterpret_cast<gex_AM_Fn_t>(on_taken),
                                GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, nullptr, nullptr}};
  gex_EP_RegisterHandlers(endpoint, handlers, 2);
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, team, 2 * largest);
  void* address = nullptr;
  gex_Segment_QueryBound(team, 1, &address, nullptr, nullptr);
  theirs = static_cast<std::byte*>(address);
  mine = static_cast<std::byte*>(gex_Segment_QueryAddr(segment)) + largest;
  if (gex_TM_QueryRank(team) == 0) measure(rounds);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
