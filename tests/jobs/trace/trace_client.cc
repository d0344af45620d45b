// A client that counts its own operations, bytes, messages and handlers, for a comparison with the
// trace of the same run.
//
//   trace_client count FILE [THREADS]   writes the counts of each rank to FILE.RANK
//   trace_client die RANK               that rank kills itself in the middle of its work
//   trace_client fill CALLS             makes so many calls
//   trace_client start COMMAND          rank 0 runs a command of the shell's
//   trace_client fork CALLS             makes so many calls beside a child that makes twice as many

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t team;
gex_Rank_t rank, ranks;
std::byte* segment;  // this rank's
std::vector<std::byte*> segments;

constexpr std::size_t segment_bytes = std::size_t{1} << 20;
// Each thread of each rank has its part of every segment.
constexpr std::size_t part_bytes = 32 << 10;

struct Tally {
  std::uint64_t count = 0, bytes = 0;
};

/// Events by name and peer. Threads add theirs at the end.
using Counts = std::map<std::pair<std::string, gex_Rank_t>, Tally>;
std::mutex mutex;
Counts calls, messages;
std::atomic<std::uint64_t> replies{0}, requests{0};

struct Handled {
  std::atomic<std::uint64_t> count{0}, bytes{0};
  void add(std::size_t size) {
    ++count;
    bytes += size;
  }
} on_ping, on_data, on_place, on_pong, on_answer;

enum : gex_AM_Index_t { ping = 200, data, place, pong, answer };

void count_message(Counts& of, gex_Rank_t peer, std::size_t bytes) {
  Tally& tally = of[{"", peer}];
  ++tally.count;
  tally.bytes += bytes;
}

// Where a thread counts, replies in handlers that it polls included: a worker's own, or in the main
// thread, while no worker exists, the sums.
thread_local Counts* own_messages = nullptr;
thread_local Counts* own_calls = nullptr;

void count_call(const char* name, gex_Rank_t peer, std::size_t bytes) {
  Tally& tally = (*own_calls)[{name, peer}];
  ++tally.count;
  tally.bytes += bytes;
}

gex_Rank_t source_of(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

void handle_ping(gex_Token_t token, gex_AM_Arg_t wants) {
  on_ping.add(0);
  const gex_Rank_t source = source_of(token);
  if (wants == 0) {
    gex_AM_ReplyShort0(token, pong, 0);
    count_call("gex_AM_ReplyShort", source, 0);
    count_message(*own_messages, source, 0);
  } else {
    static const char text[100] = "answer";
    gex_AM_ReplyMedium0(token, answer, text, sizeof text, GEX_EVENT_NOW, 0);
    count_call("gex_AM_ReplyMedium", source, sizeof text);
    count_message(*own_messages, source, sizeof text);
  }
}
void handle_data(gex_Token_t token, void*, std::size_t size) {
  on_data.add(size);
  gex_AM_ReplyShort0(token, pong, 0);
  const gex_Rank_t source = source_of(token);
  count_call("gex_AM_ReplyShort", source, 0);
  count_message(*own_messages, source, 0);
}
void handle_place(gex_Token_t token, void*, std::size_t size) {
  on_place.add(size);
  gex_AM_ReplyShort0(token, pong, 0);
  const gex_Rank_t source = source_of(token);
  count_call("gex_AM_ReplyShort", source, 0);
  count_message(*own_messages, source, 0);
}
void handle_pong(gex_Token_t) {
  on_pong.add(0);
  ++replies;
}
void handle_answer(gex_Token_t, void*, std::size_t size) {
  on_answer.add(size);
  ++replies;
}

template <class Function>
gex_AM_Entry_t entry(gex_AM_Index_t index, Function* function, gex_Flags_t flags, unsigned args,
                     const char* name) {
  return {index, reinterpret_cast<gex_AM_Fn_t>(function), flags, args, nullptr, name};
}

void start(int* count, char*** arguments) {
  gex_Client_Init(&client, &endpoint, &team, "TRACETEST", count, arguments, 0);
  rank = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  gex_AM_Entry_t table[] = {
      entry(ping, handle_ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, "ping"),
      entry(data, handle_data, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, "data"),
      entry(place, handle_place, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, "place"),
      entry(pong, handle_pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, "pong"),
      entry(answer, handle_answer, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, "answer")};
  gex_EP_RegisterHandlers(endpoint, table, std::size(table));
  gex_Segment_t attached;
  gex_Segment_Attach(&attached, team, segment_bytes);
  for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
    void* address;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, nullptr, nullptr, 0));
    segments.push_back(static_cast<std::byte*>(address));
  }
  segment = segments[rank];
}

void barrier() {
  const gex_Event_t event = gex_Coll_BarrierNB(team, 0);
  gex_Event_Wait(event);
}

/// One thread's work: a few of everything, to peers as they come.
class Worker {
 public:
  Worker(unsigned thread, unsigned threads, gex_AD_t domain)
      : random_(rank * 1000 + thread),
        part_((rank * threads + thread) * part_bytes),
        domain_(domain) {
    own_calls = &calls_;
    own_messages = &messages_;
  }
  ~Worker() {
    const std::lock_guard lock(mutex);
    for (const auto& [key, tally] : calls_) {
      calls[key].count += tally.count;
      calls[key].bytes += tally.bytes;
    }
    for (const auto& [key, tally] : messages_) {
      messages[key].count += tally.count;
      messages[key].bytes += tally.bytes;
    }
    own_calls = &calls;
    own_messages = &messages;
  }

  void work() {
    for (unsigned step = 0; step < 300; ++step) {
      const auto peer = static_cast<gex_Rank_t>(random_() % ranks);
      const std::size_t size = 1 + random_() % (random_() % 8 == 0 ? 8000 : 200);
      operate(random_() % 16, peer, size);
    }
    while (replies < requests) gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_ALL, 0);
    count_call("gex_NBI_Wait", GEX_RANK_INVALID, 0);
  }

 private:
  void wait(gex_Event_t event) {
    if (event == GEX_EVENT_INVALID) return;
    gex_Event_Wait(event);
    count_call("gex_Event_Wait", GEX_RANK_INVALID, 0);
  }
  void request(const char* call, gex_Rank_t peer, std::size_t size) {
    count_call(call, peer, size);
    count_message(messages_, peer, size);
  }

  void operate(unsigned which, gex_Rank_t peer, std::size_t size) {
    std::byte* const there = segments[peer] + part_;
    switch (which) {
      case 0:
        gex_RMA_PutBlocking(team, peer, there, buffer_, size, 0);
        return count_call("gex_RMA_PutBlocking", peer, size);
      case 1: {
        const gex_Event_t event =
            gex_RMA_PutNB(team, peer, there, buffer_, size, GEX_EVENT_DEFER, 0);
        count_call("gex_RMA_PutNB", peer, size);
        return wait(event);
      }
      case 2:
        gex_RMA_PutNBI(team, peer, there, buffer_, size, GEX_EVENT_DEFER, 0);
        return count_call("gex_RMA_PutNBI", peer, size);
      case 3:
        gex_RMA_GetBlocking(team, buffer_, peer, there, size, 0);
        return count_call("gex_RMA_GetBlocking", peer, size);
      case 4: {
        const gex_Event_t event = gex_RMA_GetNB(team, buffer_, peer, there, size, 0);
        count_call("gex_RMA_GetNB", peer, size);
        return wait(event);
      }
      case 5:
        gex_RMA_GetNBI(team, buffer_, peer, there, size, 0);
        return count_call("gex_RMA_GetNBI", peer, size);
      case 6:
        gex_RMA_PutBlockingVal(team, peer, there, 42, 4, 0);
        count_call("gex_RMA_PutBlockingVal", peer, 4);
        static_cast<void>(gex_RMA_GetBlockingVal(team, peer, there, 8, 0));
        return count_call("gex_RMA_GetBlockingVal", peer, 8);
      case 7:
      case 8:
        ++requests;
        gex_AM_RequestShort1(team, peer, ping, 0, which == 7 ? 0 : 1);
        return request("gex_AM_RequestShort", peer, 0);
      case 9:
      case 10:
        ++requests;
        gex_AM_RequestMedium0(team, peer, data, buffer_, size, GEX_EVENT_NOW, 0);
        return request("gex_AM_RequestMedium", peer, size);
      case 11:
        ++requests;
        gex_AM_RequestLong0(team, peer, place, buffer_, size, there, GEX_EVENT_NOW, 0);
        return request("gex_AM_RequestLong", peer, size);
      case 12: {
        ++requests;
        gex_AM_SrcDesc_t sd =
            gex_AM_PrepareRequestMedium(team, peer, nullptr, size, size, nullptr, 0, 0);
        count_call("gex_AM_PrepareRequestMedium", GEX_RANK_INVALID, 0);
        std::memset(gex_AM_SrcDescAddr(sd), 1, size);
        gex_AM_CommitRequestMedium0(sd, data, size);
        return request("gex_AM_CommitRequestMedium", peer, size);
      }
      case 13: {
        std::uint64_t before;
        const gex_Event_t event = gex_AD_OpNB_U64(
            domain_, &before, peer, reinterpret_cast<std::uint64_t*>(there), GEX_OP_FADD, 1, 0, 0);
        count_call("gex_AD_OpNB_U64", peer, 8);
        return wait(event);
      }
      case 14:
        gex_AD_OpNBI_U64(domain_, nullptr, peer, reinterpret_cast<std::uint64_t*>(there),
                         GEX_OP_ADD, 1, 0, 0);
        return count_call("gex_AD_OpNBI_U64", peer, 8);
      default: {
        const std::ptrdiff_t there_stride = 64, here_stride = 16;
        const std::size_t elements = 1 + size % 100;
        gex_VIS_StridedPutBlocking(team, peer, there, &there_stride, buffer_, &here_stride, 8,
                                   &elements, 1, 0);
        return count_call("gex_VIS_StridedPutBlocking", peer, 8 * elements);
      }
    }
  }

  std::mt19937 random_;
  const std::size_t part_;
  const gex_AD_t domain_;
  std::byte buffer_[8192] = {};
  Counts calls_, messages_;
};

void collectives() {
  for (unsigned i = 0; i < 5; ++i) {
    std::uint64_t value = rank, sum = 0;
    gex_Event_t event = gex_Coll_BroadcastNB(team, i % ranks, &sum, &value, sizeof value, 0);
    count_call("gex_Coll_BroadcastNB", GEX_RANK_INVALID, sizeof value);
    if (event != GEX_EVENT_INVALID) {
      gex_Event_Wait(event);
      count_call("gex_Event_Wait", GEX_RANK_INVALID, 0);
    }
    event = gex_Coll_ReduceToAllNB(team, &sum, &value, GEX_DT_U64, sizeof value, 1, GEX_OP_ADD,
                                   nullptr, nullptr, 0);
    count_call("gex_Coll_ReduceToAllNB", GEX_RANK_INVALID, sizeof value);
    if (event != GEX_EVENT_INVALID) {
      gex_Event_Wait(event);
      count_call("gex_Event_Wait", GEX_RANK_INVALID, 0);
    }
  }
}

void write_counts(const std::string& path) {
  std::FILE* file = std::fopen((path + "." + std::to_string(rank)).c_str(), "w");
  if (file == nullptr) gasnet_exit(1);
  const auto write = [file](const char* title, const Counts& counts) {
    std::fprintf(file, "\"%s\":[", title);
    const char* separator = "";
    for (const auto& [key, tally] : counts) {
      std::fprintf(file, "%s[\"%s\",%d,%lu,%lu]", separator, key.first.c_str(),
                   key.second == GEX_RANK_INVALID ? -1 : static_cast<int>(key.second),
                   static_cast<unsigned long>(tally.count),
                   static_cast<unsigned long>(tally.bytes));
      separator = ",";
    }
    std::fputs("],\n", file);
  };
  std::fputs("{", file);
  write("calls", calls);
  write("messages", messages);
  std::fputs("\"handlers\":{", file);
  const std::pair<const char*, const Handled*> all[] = {{"ping", &on_ping},
                                                        {"data", &on_data},
                                                        {"place", &on_place},
                                                        {"pong", &on_pong},
                                                        {"answer", &on_answer}};
  const char* separator = "";
  for (const auto& [name, handled] : all) {
    std::fprintf(file, "%s\"%s\":[%lu,%lu]", separator, name,
                 static_cast<unsigned long>(handled->count),
                 static_cast<unsigned long>(handled->bytes));
    separator = ",";
  }
  std::fputs("}}\n", file);
  std::fclose(file);
}

void count_all(const std::string& path, unsigned threads) {
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD, 0);
  barrier();
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread)
    others.emplace_back([=] { Worker(thread, threads, domain).work(); });
  Worker(0, threads, domain).work();
  for (std::thread& other : others) other.join();
  // Requests of others arrive until all have come so far.
  barrier();
  collectives();
  write_counts(path);
  barrier();
  gex_AD_Destroy(domain);
}

void work_until_killed(gex_Rank_t victim) {
  const gex_Rank_t peer = (rank + 1) % ranks;
  for (std::uint64_t i = 0;; ++i) {
    std::uint64_t value = i;
    gex_RMA_PutBlocking(team, peer, segments[peer], &value, sizeof value, 0);
    gex_AM_RequestShort1(team, peer, ping, 0, 0);
    if (i == 20'000 && rank == victim) ::kill(::getpid(), SIGKILL);
  }
}

void put_many(long calls) {
  const gex_Rank_t peer = (rank + 1) % ranks;
  for (; calls > 0; --calls)
    gex_RMA_PutBlocking(team, peer, segments[peer], &calls, sizeof calls, 0);
}

void put_beside_a_child(long calls) {
  const pid_t child = ::fork();
  put_many(child == 0 ? 2 * calls : calls);
  if (child == 0) std::exit(0);
  ::waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
  own_calls = &calls;
  own_messages = &messages;
  start(&count, &arguments);
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "count" && count > 2) {
    count_all(arguments[2], count > 3 ? static_cast<unsigned>(std::atoi(arguments[3])) : 1);
  } else if (what == "die" && count > 2) {
    work_until_killed(static_cast<gex_Rank_t>(std::atoi(arguments[2])));
  } else if (what == "fill" && count > 2) {
    put_many(std::atol(arguments[2]));
  } else if (what == "fork" && count > 2) {
    put_beside_a_child(std::atol(arguments[2]));
  } else if (what == "start" && count > 2) {
    if (rank == 0 && std::system(arguments[2]) != 0) gasnet_exit(1);
  } else {
    return 2;
  }
  barrier();
  gasnet_exit(0);
}
