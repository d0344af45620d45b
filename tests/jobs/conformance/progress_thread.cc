// A rank whose threads compute, and call nothing of the library, is served by its progress thread:
// the other one's puts, gets, atomics, non-contiguous transfers and collectives go on, also behind
// messages of the client's, whose handlers wait for a poll and never run in that thread.
//
// A program of its own for two ranks of one host, with GEX_PROGRESS_THREAD=1. Its segments are the
// client's memory, so that a neighbor reaches them by messages. Arguments: `deferred`: the client
// starts the thread itself; `absent`: this is no program of GASNET_PAR, and there is none.

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "require.h"
#include "signs.h"

namespace {

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t team;
gex_Rank_t me;
gex_Rank_t peer;

/// The segment of each rank. The first word ends a rank's computing.
constexpr std::size_t words = std::size_t{1} << 17;
std::vector<std::uint64_t> memory(words);
std::uint64_t* peer_memory;

Signs signs;

const char* const thread_name = "gex-progress";

/// How many threads of this process have the progress thread's name.
int progress_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name == thread_name) ++count;
  }
  return count;
}

bool is_progress_thread() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return std::strcmp(name, thread_name) == 0;
}

/// The first word of the segment, which the other rank puts: what a client's loop reads of memory
/// that is put to, ThreadSanitizer would take for a race.
__attribute__((noinline, no_sanitize("thread"))) std::uint64_t first_word() {
  return *static_cast<const volatile std::uint64_t*>(memory.data());
}

/// Computes, without a call of the library, until the other rank has put that number into the
/// segment, or a later one.
void compute_until(std::uint64_t number) {
  // More threads than processors may compute here.
  while (first_word() < number) sched_yield();
}

enum Handler : gex_AM_Index_t { ask = GEX_AM_INDEX_BASE, answer, block, notice };
std::atomic<int> handlers{0};
std::atomic<int> answers{0};

void note_handler() {
  REQUIRE(!is_progress_thread());
  ++handlers;
}
void on_ask(gex_Token_t token, gex_AM_Arg_t value) {
  note_handler();
  gex_AM_ReplyShort1(token, answer, 0, value);
}
void on_answer(gex_Token_t, gex_AM_Arg_t) {
  REQUIRE(!is_progress_thread());
  ++answers;
}
void on_block(gex_Token_t, void* payload, std::size_t bytes) {
  const auto* const found = static_cast<const unsigned char*>(payload);
  for (std::size_t i = 0; i < bytes; ++i)
    REQUIRE(found[i] == static_cast<unsigned char>(bytes + i));
  note_handler();
}
void on_notice(gex_Token_t, void*, std::size_t) {
  note_handler();
}

void start(const char* name, gex_Flags_t flags) {
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, name, nullptr, nullptr, flags) == GASNET_OK);
  REQUIRE(gex_TM_QuerySize(team) == 2);
  me = gex_TM_QueryRank(team);
  peer = 1 - me;
  constexpr gex_Flags_t request = GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t table[] = {
      {ask, reinterpret_cast<gex_AM_Fn_t>(on_ask), request | GEX_FLAG_AM_SHORT, 1, nullptr, "ask"},
      {answer, reinterpret_cast<gex_AM_Fn_t>(on_answer), GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1,
       nullptr, "answer"},
      {block, reinterpret_cast<gex_AM_Fn_t>(on_block), request | GEX_FLAG_AM_MEDLONG, 0, nullptr,
       "block"},
      {notice, reinterpret_cast<gex_AM_Fn_t>(on_notice), GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 0,
       nullptr, "notice"},
  };
  REQUIRE(gex_EP_RegisterHandlers(endpoint, table, std::size(table)) == GASNET_OK);
  gex_Segment_t segment;
  REQUIRE(gex_Segment_Create(&segment, client, memory.data(), words * sizeof memory[0], GEX_MK_HOST,
                             0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(endpoint, segment, 0) == GASNET_OK);
  REQUIRE(gex_EP_PublishBoundSegment(team, &endpoint, 1, 0) == GASNET_OK);
  void* address = nullptr;
  REQUIRE(gex_EP_QueryBoundSegmentNB(team, peer, &address, nullptr, nullptr, 0) ==
          GEX_EVENT_INVALID);
  peer_memory = static_cast<std::uint64_t*>(address);
  signs.introduce(team);
}

/// Messages of the client's: short ones that are replied to, medium ones of all sizes, a long one.
constexpr int requests = 20;
constexpr std::size_t payloads[] = {0, 8, 500, 1000, 4000, 30'000, 60'000, 2000};
constexpr int messages = requests + static_cast<int>(std::size(payloads)) + 1;

void send_messages() {
  std::vector<unsigned char> payload(60'000);
  const auto fill = [&](std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<unsigned char>(bytes + i);
  };
  for (int i = 0; i < requests; ++i) gex_AM_RequestShort1(team, peer, ask, 0, i);
  for (const std::size_t bytes : payloads) {
    const std::size_t sent =
        std::min<std::size_t>(bytes, gex_AM_MaxRequestMedium(team, peer, GEX_EVENT_NOW, 0, 0));
    fill(sent);
    gex_AM_RequestMedium0(team, peer, block, payload.data(), sent, GEX_EVENT_NOW, 0);
  }
  fill(3000);
  gex_AM_RequestLong0(team, peer, block, payload.data(), 3000, peer_memory + 60'000, GEX_EVENT_NOW,
                      0);
}

void transfer(gex_AD_t domain, std::uint64_t seed) {
  std::vector<std::uint64_t> here(20'000);
  for (std::size_t i = 0; i < here.size(); ++i) here[i] = seed + i;
  std::vector<std::uint64_t> back(here.size());
  const std::size_t bytes = here.size() * sizeof here[0];
  gex_RMA_PutBlocking(team, peer, peer_memory + 16, here.data(), bytes, 0);
  gex_RMA_GetBlocking(team, back.data(), peer, peer_memory + 16, bytes, 0);
  REQUIRE(back == here);

  for (std::size_t i = 0; i < 300; ++i)
    gex_RMA_PutNBI(team, peer, peer_memory + 30'000 + i, &here[i], 8, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  std::vector<gex_Event_t> events;
  for (std::size_t i = 0; i < 50; ++i)
    events.push_back(gex_RMA_GetNB(team, &back[i], peer, peer_memory + 30'000 + 2 * i, 8, 0));
  // No poll of this rank need move what the other serves.
  for (bool done = false; !done;) {
    gasnet_AMPoll();
    done = gex_Event_TestAll(events.data(), events.size(), 0) == GASNET_OK;
  }
  for (std::size_t i = 0; i < 50; ++i) REQUIRE(back[i] == here[2 * i]);

  gex_RMA_PutBlockingVal(team, peer, peer_memory + 8, seed, 8, 0);
  for (std::uint64_t i = 0; i < 5; ++i) {
    std::uint64_t before = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, peer, peer_memory + 8, GEX_OP_FADD, 1, 0, 0));
    REQUIRE(before == seed + i);
  }

  const std::ptrdiff_t there[] = {64};
  const std::ptrdiff_t dense[] = {8};
  const std::size_t count[] = {1000};
  gex_VIS_StridedPutBlocking(team, peer, peer_memory + 40'000, there, here.data(), dense, 8, count,
                             1, 0);
  std::fill(back.begin(), back.end(), 0);
  gex_VIS_StridedGetBlocking(team, back.data(), dense, peer, peer_memory + 40'000, there, 8, count,
                             1, 0);
  for (std::size_t i = 0; i < count[0]; ++i) REQUIRE(back[i] == here[i]);
}

/// Rank 0 transfers while all threads of rank 1 compute, `in_front`: behind messages of the
/// client's.
void serve_transfers(gex_AD_t domain, std::uint64_t number, bool in_front) {
  handlers = answers = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) {
    signs.wait();
    if (in_front) send_messages();
    transfer(domain, 1000 * number);
    gex_RMA_PutBlockingVal(team, peer, peer_memory, number, 8, 0);
    GASNET_BLOCKUNTIL(answers == (in_front ? requests : 0));
  } else {
    std::atomic<bool> computes{false};
    std::thread other([&] {
      gasnet_AMPoll();
      computes = true;
      compute_until(number);
    });
    while (!computes) sched_yield();
    signs.give(0);
    compute_until(number);
    other.join();
    REQUIRE(handlers == 0);
    GASNET_BLOCKUNTIL(handlers == (in_front ? messages : 0));
  }
}

/// A put with a peer completion handler, which is the client's, waits for a poll; others do not.
void serve_around_a_notice(std::uint64_t number) {
  handlers = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) {
    signs.wait();
    std::uint64_t here[] = {1, 2, 3, 4};
    const std::ptrdiff_t there[] = {64};
    const std::ptrdiff_t dense[] = {8};
    const std::size_t count[] = {4};
    gex_VIS_SetPeerCompletionHandler(notice, here, sizeof here, 0);
    const gex_Event_t notified =
        gex_VIS_StridedPutNB(team, peer, peer_memory + 16, there, here, dense, 8, count, 1, 0);
    gex_RMA_PutBlockingVal(team, peer, peer_memory, number, 8, 0);
    gex_Event_Wait(notified);
  } else {
    signs.give(0);
    compute_until(number);
    REQUIRE(handlers == 0);
    GASNET_BLOCKUNTIL(handlers == 1);
  }
}

void add(const void* left, void* right, std::size_t count, const void*) {
  REQUIRE(!is_progress_thread());
  const auto* const a = static_cast<const std::uint64_t*>(left);
  auto* const b = static_cast<std::uint64_t*>(right);
  for (std::size_t i = 0; i < count; ++i) b[i] += a[i];
}

/// A collective operation that rank 1 has begun is completed at rank 0 while rank 1 computes.
void serve_collectives(std::uint64_t number) {
  constexpr std::size_t count = 100'000;
  const std::vector<std::uint64_t> source(count, me + 1);
  std::vector<std::uint64_t> sum(count);
  std::vector<std::uint64_t> sent(count);
  std::vector<std::uint64_t> of_client(count);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const gex_Event_t events[] = {
      gex_Coll_BroadcastNB(team, 1, sent.data(), source.data(), count * 8, 0),
      gex_Coll_ReduceToAllNB(team, sum.data(), source.data(), GEX_DT_U64, 8, count, GEX_OP_ADD,
                             nullptr, nullptr, 0),
      gex_Coll_BarrierNB(team, 0),
  };
  if (me == 0) {
    for (const gex_Event_t event : events) gex_Event_Wait(event);
    gex_RMA_PutBlockingVal(team, peer, peer_memory, number, 8, 0);
  } else {
    compute_until(number);
    for (const gex_Event_t event : events) gex_Event_Wait(event);
  }
  REQUIRE(sum == std::vector<std::uint64_t>(count, 3));
  REQUIRE(sent == std::vector<std::uint64_t>(count, 2));

  // The client's operator runs in its threads alone, and what is the library's goes on beside it.
  const gex_Event_t reduced = gex_Coll_ReduceToAllNB(
      team, of_client.data(), source.data(), GEX_DT_U64, 8, count, GEX_OP_USER, add, nullptr, 0);
  if (me == 0) {
    for (std::uint64_t i = 0; i < 5; ++i)
      gex_RMA_PutBlockingVal(team, peer, peer_memory + 8, i, 8, 0);
    gex_RMA_PutBlockingVal(team, peer, peer_memory, number + 1, 8, 0);
  } else {
    compute_until(number + 1);
  }
  gex_Event_Wait(reduced);
  REQUIRE(of_client == std::vector<std::uint64_t>(count, 3));
}

/// Replies to a rank that sends on and does not poll are taken from their way up to a bound: then
/// its requests find no room.
void bound_what_waits() {
  constexpr int window = 96;
  constexpr int bound = 1024;
  handlers = answers = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) {
    int sent = 0;
    // An immediate request does not poll.
    while (sent < bound)
      if (gex_AM_RequestShort1(team, peer, ask, GEX_FLAG_IMMEDIATE, sent) == 0) ++sent;
    for (int refused = 0; refused < 100'000; ++refused)
      if (gex_AM_RequestShort1(team, peer, ask, GEX_FLAG_IMMEDIATE, sent) == 0) ++sent;
    REQUIRE(sent <= bound + 2 * window);
    REQUIRE(answers == 0);
    GASNET_BLOCKUNTIL(answers == sent);
    gex_RMA_PutBlockingVal(team, peer, peer_memory, 99, 8, 0);
  } else {
    // Without something of the library's own to serve nothing is taken from its way.
    while (first_word() != 99) gex_RMA_PutBlockingVal(team, peer, peer_memory + 8, 1, 8, 0);
  }
}

/// Starts the thread as a client does that has deferred it.
void start_deferred() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  REQUIRE(progress_threads() == 0);
  unsigned count = 0;
  const gex_ProgressThreadInfo_t* info = nullptr;
  REQUIRE(gex_System_QueryProgressThreads(client, &count, &info, 0) == GASNET_OK);
  REQUIRE(count == 1);
  REQUIRE(info[0].gex_thread_roles == (GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND));
  REQUIRE(info[0].gex_device_list != nullptr && info[0].gex_device_list[0] != '\0');
  REQUIRE(gex_System_QueryProgressThreads(client, &count, &info, 0) == GASNET_ERR_RESOURCE);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, nullptr, info[0].gex_progress_fn, info[0].gex_progress_arg) == 0);
}

/// Returns the text that this process writes to its standard error while `work` runs.
template <class Work>
std::string errors_of(Work work) {
  const int kept = dup(STDERR_FILENO);
  const int file = memfd_create("errors", 0);
  REQUIRE(kept >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
  work();
  REQUIRE(dup2(kept, STDERR_FILENO) >= 0);
  char text[1000] = "";
  REQUIRE(pread(file, text, sizeof text - 1, 0) >= 0);
  return text;
}

int expect_absence() {
  const std::string errors = errors_of([] { start("PROGRESS", 0); });
  const char* const expected =
      "gex: rank 0: warning: GEX_PROGRESS_THREAD=1: there is no progress thread, because this "
      "client "
      "was compiled for GASNET_SEQ; compile it for GASNET_PAR\n";
  REQUIRE(errors == (me == 0 ? expected : ""));
  REQUIRE(progress_threads() == 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "absent") return expect_absence();

  const bool defers = how == "deferred";
  start("PROGRESS", defers ? GEX_FLAG_DEFER_THREADS : 0);
  if (defers) start_deferred();
  // It gives itself its name.
  while (progress_threads() != 1) sched_yield();
  gex_AD_t domain = GEX_AD_INVALID;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD, 0);

  std::uint64_t number = 0;
  serve_transfers(domain, ++number, false);
  serve_transfers(domain, ++number, true);
  serve_transfers(domain, ++number, false);
  serve_around_a_notice(++number);
  ++number;
  serve_collectives(number++);
  gex_Rank_t neighbors = 0;
  gex_System_QueryNbrhdInfo(nullptr, &neighbors, nullptr);
  // Over a network credits are fewer.
  if (neighbors == 2) bound_what_waits();

  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  REQUIRE(progress_threads() == 1);
  gex_AD_Destroy(domain);
  // Both ways out.
  if (defers) gasnet_exit(0);
  return 0;
}
