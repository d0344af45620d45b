// Threads of both ranks communicate at the same time: requests with replies, medium messages, puts
// and gets, each checked, each thread by itself. With `kill` rank 1 dies in the midst of that.
// A program of its own for two ranks, so that a network may be given lanes by the environment.

#include <gasnetex.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "require.h"

namespace {

constexpr int threads_each = 4;
constexpr int rounds = 300;
constexpr std::size_t words = 300;

enum Handler : gex_AM_Index_t { ask = GEX_AM_INDEX_BASE, answer, block, block_back };

std::array<std::atomic<int>, threads_each> answers{};
std::array<std::atomic<int>, threads_each> blocks{};

void on_ask(gex_Token_t token, gex_AM_Arg_t thread) {
  gex_AM_ReplyShort1(token, answer, 0, thread);
}
void on_answer(gex_Token_t, gex_AM_Arg_t thread) {
  ++answers[static_cast<std::size_t>(thread)];
}
void on_block(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t thread) {
  gex_AM_ReplyMedium1(token, block_back, payload, bytes, GEX_EVENT_NOW, 0, thread);
}
void on_block_back(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t thread) {
  REQUIRE(bytes == words * sizeof(std::uint64_t));
  std::array<std::uint64_t, words> got;
  std::memcpy(got.data(), payload, bytes);
  for (std::size_t i = 0; i < words; ++i) REQUIRE(got[i] == got[0] + i);
  ++blocks[static_cast<std::size_t>(thread)];
}

struct Job {
  gex_TM_t team;
  gex_Rank_t peer;
  std::uint64_t* remote;
  bool dies;
};

void communicate(const Job& job, int thread) {
  const auto index = static_cast<std::size_t>(thread);
  std::uint64_t* const own_words = job.remote + index * words;
  std::array<std::uint64_t, words> source;
  std::array<std::uint64_t, words> back;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < words; ++i)
      source[i] = static_cast<std::uint64_t>(thread * 1000000 + round * 1000) + i;
    gex_AM_RequestShort1(job.team, job.peer, ask, 0, thread);
    gex_AM_RequestMedium1(job.team, job.peer, block, source.data(), sizeof source, GEX_EVENT_NOW, 0,
                          thread);
    gex_RMA_PutBlocking(job.team, job.peer, own_words, source.data(), sizeof source, 0);
    gex_RMA_GetBlocking(job.team, back.data(), job.peer, own_words, sizeof back, 0);
    REQUIRE(back == source);
    GASNET_BLOCKUNTIL(answers[index] == round + 1 && blocks[index] == round + 1);
    if (job.dies && thread == 1 && round == rounds / 2) kill(getpid(), SIGKILL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool kills = argc > 1 && std::string(argv[1]) == "kill";
  gex_Client_t client;
  gex_EP_t endpoint;
  Job job{};
  REQUIRE(gex_Client_Init(&client, &endpoint, &job.team, "LANES", &argc, &argv, 0) == GASNET_OK);
  REQUIRE(gex_TM_QuerySize(job.team) == 2);
  gex_AM_Entry_t table[] = {{ask, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "ask"},
                            {answer, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, nullptr, "answer"},
                            {block, reinterpret_cast<gex_AM_Fn_t>(on_block),
                             GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "block"},
                            {block_back, reinterpret_cast<gex_AM_Fn_t>(on_block_back),
                             GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1, nullptr, "block_back"}};
  REQUIRE(gex_EP_RegisterHandlers(endpoint, table, std::size(table)) == GASNET_OK);
  gex_Segment_t segment;
  REQUIRE(gex_Segment_Attach(&segment, job.team, std::size_t{1} << 20) == GASNET_OK);
  job.peer = 1 - gex_TM_QueryRank(job.team);
  job.dies = kills && job.peer == 0;
  void* address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(job.team, job.peer, &address, nullptr, nullptr, 0));
  job.remote = static_cast<std::uint64_t*>(address);
  gex_Event_Wait(gex_Coll_BarrierNB(job.team, 0));
  {
    std::vector<std::jthread> threads;
    for (int thread = 1; thread < threads_each; ++thread)
      threads.emplace_back([&job, thread] { communicate(job, thread); });
    communicate(job, 0);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(job.team, 0));
  // What the threads have sent over lanes must not keep the job from its end.
  gasnet_exit(0);
}
