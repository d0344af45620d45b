// A client of two ranks that prints what a seed of emu has decided: seed_probe SCENARIO ARGUMENT.

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "print_line.h"

namespace {

gex_TM_t team;
gex_Segment_t segment;
std::string argument;

bool am_first() {
  return gex_System_QueryJobRank() == 0;
}
void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

constexpr gex_AM_Index_t numbered = 200;
std::vector<int> order;
void on_numbered(gex_Token_t, gex_AM_Arg_t number) {
  order.push_back(number);
}

/// Files let the ranks go on where a message would be one more.
void notify(const char* what) {
  if (std::FILE* const file = std::fopen((argument + what).c_str(), "w")) std::fclose(file);
}
void wait_to_be_reported(const char* what) {
  while (access((argument + what).c_str(), F_OK) != 0) usleep(1000);
}

/// Prints in what order messages are handled that have all arrived before one is looked at.
void delivery_order() {
  constexpr int messages = 8;
  barrier();
  if (am_first()) {
    notify("polls no more");
    wait_to_be_reported("sent");
    while (order.size() < messages) gasnet_AMPoll();
    notify("handled");
    std::string text;
    for (const int number : order) text += ' ' + std::to_string(number);
    print("order%s\n", text.c_str());
  } else {
    wait_to_be_reported("polls no more");
    for (int i = 0; i < messages; ++i) gex_AM_RequestShort1(team, 0, numbered, 0, i);
    notify("sent");
    // The barrier's would be one more among them.
    wait_to_be_reported("handled");
  }
  barrier();
}

double microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// A put, a get or an atomic operation under way.
struct Begun {
  const char* what;
  int number;
  gex_Event_t event = GEX_EVENT_INVALID;
  gex_Event_t reusable = GEX_EVENT_INVALID;  ///< of a put: the leaf
  int reusable_at = -1;                      ///< the poll after which it was
  double begun[2] = {};                      ///< before and after the call
};

/// Rank 1 as rank 0 uses it: a segment of zeros, and a domain.
struct Peer {
  Peer() {
    std::memset(gex_Segment_QueryAddr(segment), 0, GASNET_PAGESIZE);
    gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD, 0);
    void* address = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &address, nullptr, nullptr, 0));
    memory = static_cast<char*>(address);
    barrier();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    barrier();
    gex_AD_Destroy(domain);
  }
  gex_AD_t domain = GEX_AD_INVALID;
  char* memory = nullptr;
};

constexpr int of_each = 16;
/// Begins puts to words of the peer's, gets of the same words, and additions to one more word, or,
/// with `puts_only`, as many puts to it.
struct Transfers {
  explicit Transfers(const Peer& peer, bool puts_only = false) {
    for (int i = 0; i < of_each; ++i) {
      values[i] = static_cast<std::uint64_t>(i) + 1;
      begin("put", i, [&](Begun& put) {
        put.event = gex_RMA_PutNB(team, 1, peer.memory + 8 * i, &values[i], 8, &put.reusable, 0);
      });
    }
    for (int i = 0; i < of_each; ++i)
      begin("get", i, [&](Begun& get) {
        get.event = gex_RMA_GetNB(team, &found[i], 1, peer.memory + 8 * i, 8, 0);
      });
    char* const counter = peer.memory + 8 * of_each;
    for (int i = 0; i < of_each; ++i)
      begin("atomic", i, [&](Begun& atomic) {
        atomic.event =
            puts_only ? gex_RMA_PutNB(team, 1, counter, &values[i], 8, GEX_EVENT_DEFER, 0)
                      : gex_AD_OpNB_U64(peer.domain, &tickets[i], 1, counter, GEX_OP_FADD, 1, 0, 0);
      });
  }
  template <class Call>
  void begin(const char* what, int number, Call call) {
    Begun one{what, number};
    one.begun[0] = microseconds();
    call(one);
    one.begun[1] = microseconds();
    under_way.push_back(one);
  }

  std::uint64_t values[of_each];
  std::uint64_t found[of_each];
  std::uint64_t tickets[of_each];
  std::vector<Begun> under_way;
};

/// Prints at which poll after their common start each of some transfers was found reusable and
/// complete, what gets have read, and in what order the additions were made. Their peer does
/// nothing meanwhile, so nothing but the seed decides.
void transfer_order() {
  const Peer peer;
  if (!am_first()) {
    wait_to_be_reported("done");
    return;
  }
  Transfers transfers(peer);
  for (int polls = 0; !transfers.under_way.empty(); ++polls) {
    std::erase_if(transfers.under_way, [&](Begun& one) {
      // The leaf first: the root takes it along.
      if (one.reusable_at < 0 && gex_Event_Test(one.reusable) == GASNET_OK) one.reusable_at = polls;
      if (gex_Event_Test(one.event) != GASNET_OK) return false;
      print("%s %d: %d %d\n", one.what, one.number, one.reusable_at, polls);
      return true;
    });
    gasnet_AMPoll();
  }
  std::string text;
  for (int i = 0; i < of_each; ++i)
    text += ' ' + std::to_string(transfers.found[i]) + ',' + std::to_string(transfers.tickets[i]);
  print("found%s\n", text.c_str());
  notify("done");
}

/// Prints how long transfers and messages have taken, each as a range in microseconds which that
/// lies in whatever the machine does meanwhile.
void transfer_times() {
  // After so many polls a seed lets everything complete whose time has come.
  constexpr int settled = 64;
  const Peer peer;
  if (!am_first()) {
    std::vector<double> polls(settled, 0);
    for (std::size_t handled = 0; handled < of_each;) {
      polls.push_back(microseconds());
      gasnet_AMPoll();
      for (; handled < order.size(); ++handled)
        print("came %d: %.0f %.0f\n", order[handled], polls[polls.size() - settled],
              microseconds());
    }
    return;
  }
  for (int i = 0; i < of_each; ++i) {
    const double before = microseconds();
    gex_AM_RequestShort1(team, 1, numbered, 0, i);
    print("sent %d: %.0f %.0f\n", i, before, microseconds());
  }
  Transfers transfers(peer, argument == "puts");
  double not_before = 0;
  for (int polls = 0; !transfers.under_way.empty(); ++polls) {
    const double poll = microseconds();
    gasnet_AMPoll();
    std::erase_if(transfers.under_way, [&](const Begun& one) {
      if (gex_Event_Test(one.event) != GASNET_OK) return false;
      // Complete since the last poll, unless that was one of the first.
      print("%s %d: %.0f %.0f\n", one.what, one.number,
            not_before == 0 ? 0 : not_before - one.begun[1], microseconds() - one.begun[0]);
      return true;
    });
    if (polls > settled) not_before = poll;
  }
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  if (argc != 3 || gex_Client_Init(&client, &endpoint, &team, "SEED", &argc, &argv, 0) != GASNET_OK)
    return 90;
  gex_AM_Entry_t table[] = {{numbered, reinterpret_cast<gex_AM_Fn_t>(on_numbered),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "on_numbered"}};
  if (gex_EP_RegisterHandlers(endpoint, table, 1) != GASNET_OK) return 91;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) return 92;
  argument = argv[2];
  const std::string scenario = argv[1];
  if (scenario == "delivery_order")
    delivery_order();
  else if (scenario == "transfer_order")
    transfer_order();
  else
    transfer_times();
  return 0;
}
