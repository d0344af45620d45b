// Remote calls beside the active messages below them, between neighboring ranks 0 and 1: ratios of
// one run, the least of several rounds.
//
//     gexrun -n 2 upcxx_rpc [ROUNDS]
#include <gasnetex.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <upcxx/upcxx.hpp>

namespace {

constexpr int round_trips = 500;
constexpr int messages = 2000;

gex_TM_t world;
int peer;
// By handlers and callbacks of this thread only.
volatile long arrived = 0;
volatile long answered = 0;
constexpr gex_AM_Index_t counted = 130;
constexpr gex_AM_Index_t asked = 131;
constexpr gex_AM_Index_t answer = 132;

void counted_handler(gex_Token_t, void*, size_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t,
                     gex_AM_Arg_t) {
  arrived = arrived + 1;
}
void asked_handler(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t a, gex_AM_Arg_t b,
                   gex_AM_Arg_t c, gex_AM_Arg_t d) {
  gex_AM_ReplyMedium4(token, answer, payload, bytes, GEX_EVENT_NOW, 0, a, b, c, d);
}
void answer_handler(gex_Token_t, void*, size_t, gex_AM_Arg_t, gex_AM_Arg_t, gex_AM_Arg_t,
                    gex_AM_Arg_t) {
  answered = answered + 1;
}

void join() {
  gex_Client_t client = nullptr;
  gex_EP_t endpoint = nullptr;
  gex_Client_Init(&client, &endpoint, &world, "BENCH", nullptr, nullptr, 0);
  const gex_Flags_t request = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t table[] = {
      {counted, reinterpret_cast<gex_AM_Fn_t>(counted_handler), request, 4, nullptr, "counted"},
      {asked, reinterpret_cast<gex_AM_Fn_t>(asked_handler), request, 4, nullptr, "asked"},
      {answer, reinterpret_cast<gex_AM_Fn_t>(answer_handler),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 4, nullptr, "answer"},
  };
  gex_EP_RegisterHandlers(endpoint, table, 3);
}

/// Nanoseconds of one of `count` on rank 0, while the other makes progress until all have arrived.
template <class Body>
double measured(int count, Body&& body) {
  upcxx::barrier();
  const auto begin = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  upcxx::barrier();
  return taken.count() / count;
}

/// Requests to rank 1, until all have run.
template <class Send>
double flooded(Send&& send) {
  arrived = 0;
  return measured(messages, [&] {
    if (upcxx::rank_me() == 0) {
      for (int i = 0; i < messages; ++i) send();
    } else {
      while (arrived < messages) upcxx::progress();
    }
    upcxx::barrier();
  });
}

double am_round_trip() {
  arrived = 0;
  return measured(round_trips, [] {
    if (upcxx::rank_me() != 0) {
      while (arrived == 0) gasnet_AMPoll();
      return;
    }
    const std::uint64_t payload[2] = {};
    for (int i = 0; i < round_trips; ++i) {
      const long before = answered;
      gex_AM_RequestMedium4(world, gex_Rank_t(peer), asked, payload, sizeof payload, GEX_EVENT_NOW,
                            0, 1, 2, 3, 4);
      while (answered == before) gasnet_AMPoll();
    }
    gex_AM_RequestMedium4(world, gex_Rank_t(peer), counted, nullptr, 0, GEX_EVENT_NOW, 0, 1, 2, 3,
                          4);
  });
}
double rpc_round_trip() {
  arrived = 0;
  return measured(round_trips, [] {
    if (upcxx::rank_me() != 0) {
      while (arrived == 0) upcxx::progress();
      return;
    }
    for (int i = 0; i < round_trips; ++i) upcxx::rpc(peer, [] {}).wait();
    upcxx::rpc_ff(peer, [] { arrived = 1; });
  });
}

}  // namespace

int main(int argc, char** argv) {
  upcxx::init();
  if (upcxx::rank_n() != 2) upcxx::fatal_error("this program is for two ranks", "upcxx_rpc");
  join();
  peer = 1 - upcxx::rank_me();
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  constexpr int kinds = 5;
  double best[kinds] = {};
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t payload = 1;
    const double now[kinds] = {
        am_round_trip(),
        rpc_round_trip(),
        flooded([&] {
          gex_AM_RequestMedium4(world, gex_Rank_t(peer), counted, &payload, sizeof payload,
                                GEX_EVENT_NOW, 0, 1, 2, 3, 4);
        }),
        flooded([] {
          std::uint64_t by = 1;
          upcxx::rpc_ff(peer, [by] { arrived = arrived + long(by); });
        }),
        measured(round_trips,
                 [] {
                   for (int i = 0; i < round_trips; ++i) {
                     upcxx::rpc(upcxx::rank_me(), [] {}).wait();
                   }
                 }),
    };
    for (int i = 0; i < kinds; ++i) best[i] = round == 0 ? now[i] : std::min(best[i], now[i]);
  }
  if (upcxx::rank_me() == 0) {
    std::printf("message and its reply  %8.1f ns\n", best[0]);
    std::printf("rpc                    %8.1f ns  %5.2f of it, budget 1.30\n", best[1],
                best[1] / best[0]);
    std::printf("flood of messages      %8.1f ns\n", best[2]);
    std::printf("flood of rpc_ff        %8.1f ns  %5.2f of it, budget 1.15\n", best[3],
                best[3] / best[2]);
    std::printf("rpc to the rank itself %8.1f ns        budget 60\n", best[4]);
  }
  upcxx::finalize();
  return 0;
}
