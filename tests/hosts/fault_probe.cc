// The ranks of a job that something is done to from outside, or by one of them; faults.py.
//
//   fault_probe flood SECONDS KIB   rank 0 does not poll for so long, and all others flood it; no
//                                   rank's memory may grow by more than KIB
//   fault_probe flood-rma SECONDS KIB   the same with puts and gets
//   fault_probe serve [HOW]         all ranks talk with one another from gexrun's first SIGUSR1 to
//                                   its second; rank 2 leaves before, by exit(3), exit(0) (how:
//                                   success), _exit(4) or gasnet_exit(5); how: bulk puts 128 KiB
//                                   to each rank in each round
//   fault_probe leave HOW           rank 2 leaves so when it gets SIGUSR1; the others wait in a
//                                   barrier
//   fault_probe go-on-without       rank 2 returns; the others talk to it for two seconds
//
// Rank 0 prints one line when all was well; anything else ends the job with status 1.

#include <gasnetex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr gex_AM_Index_t first_handler = 200;
enum : gex_AM_Index_t {
  flood_short = first_handler,
  flood_medium,
  flood_answer,
  talk_request,
  talk_answer,
  wake_up,
  sum_up,
  stop,
  handlers_end
};

/// The result of one rank, as it reports it to rank 0 in the end.
struct Sum {
  gex_AM_Arg_t reported;
  gex_AM_Arg_t requests;
  gex_AM_Arg_t exchanges;
  gex_AM_Arg_t growth_kib;
};

constexpr std::uint32_t max_requests = 1 << 16;
constexpr std::uint32_t after_silence = 500;

gex_TM_t team;
gex_Rank_t rank;
gex_Rank_t size;
std::vector<std::vector<std::uint8_t>> arrived;  ///< at rank 0: how often each request of each rank
std::vector<Sum> sums;                           ///< at rank 0
bool by_rma = false;
std::vector<std::uint64_t> mine;      ///< of the flood of puts and gets: a word for each
std::uint64_t* words_of_0 = nullptr;  ///< rank 0's segment: max_requests words for each rank
std::uint32_t arrivals = 0;
std::uint32_t answers = 0;
std::uint32_t talks = 0;
bool awake = false;
gex_AM_Arg_t last_round = 0;
volatile std::sig_atomic_t signals = 0;

[[noreturn]] void fail(const char* what, long found, long wanted) {
  std::printf("wrong: rank %u: %s: %ld, not %ld\n", rank, what, found, wanted);
  std::fflush(stdout);
  gasnet_exit(1);
  __builtin_unreachable();
}

/// The bytes that are mapped to be written, touched or not: a network library cycles through
/// buffers that it has from the start, of which more and more are touched.
long memory_kib() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages) != 1)
    fail("no statm", 0, 1);
  std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

gex_Rank_t source_of(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

std::uint8_t byte_of(gex_Rank_t source, gex_AM_Arg_t index, std::size_t at) {
  return static_cast<std::uint8_t>(source * 31 + static_cast<std::uint32_t>(index) * 7 + at);
}

void note_arrival(gex_Token_t token, gex_AM_Arg_t index) {
  std::uint8_t& times = arrived[source_of(token)].at(static_cast<std::size_t>(index));
  if (times < 255) ++times;
  ++arrivals;
  gex_AM_ReplyShort1(token, flood_answer, 0, index);
}

void on_flood_short(gex_Token_t token, gex_AM_Arg_t index) {
  note_arrival(token, index);
}
void on_flood_medium(gex_Token_t token, void* data, size_t bytes, gex_AM_Arg_t index) {
  const gex_Rank_t source = source_of(token);
  const auto* const payload = static_cast<const std::uint8_t*>(data);
  for (std::size_t at = 0; at < bytes; at += 101) {
    if (payload[at] != byte_of(source, index, at)) fail("a byte of a medium", payload[at], at);
  }
  note_arrival(token, index);
}
void on_flood_answer(gex_Token_t, gex_AM_Arg_t) {
  ++answers;
}
void on_talk_request(gex_Token_t token) {
  gex_AM_ReplyShort0(token, talk_answer, 0);
}
void on_talk_answer(gex_Token_t) {
  ++talks;
}
void on_wake_up(gex_Token_t) {
  awake = true;
}
void on_sum_up(gex_Token_t token, gex_AM_Arg_t requests, gex_AM_Arg_t exchanges,
               gex_AM_Arg_t growth_kib) {
  sums[source_of(token)] = {1, requests, exchanges, growth_kib};
}
void on_stop(gex_Token_t token, gex_AM_Arg_t round) {
  last_round = round;
  gex_AM_ReplyShort0(token, talk_answer, 0);
}

void poll_until(auto condition) {
  while (!condition()) {
    gasnet_AMPoll();
    std::this_thread::yield();
  }
}

bool is_put(std::uint32_t index) {
  return index % 2 == 0;
}

/// The words of rank 0 that a rank gets.
std::uint64_t word_for(gex_Rank_t source, std::uint32_t index) {
  return (std::uint64_t{source} << 32 | index) + 1;
}

/// Puts a word of its own into rank 0's memory, or gets one from there into `mine`.
bool flood_once_by_rma(std::uint32_t index, gex_Flags_t flags) {
  std::uint64_t* const theirs = words_of_0 + std::size_t{rank} * max_requests + index;
  if (!is_put(index))
    return gex_RMA_GetNBI(team, &mine[index], 0, theirs, sizeof *theirs, flags) == 0;
  mine[index] = word_for(rank, index);
  return gex_RMA_PutNBI(team, 0, theirs, &mine[index], sizeof *theirs, GEX_EVENT_DEFER, flags) == 0;
}

/// Sends rank 0 the next request of the flood, every other one with payload of another size.
bool flood_once(std::uint32_t index, gex_Flags_t flags) {
  if (by_rma) return flood_once_by_rma(index, flags);
  static std::vector<std::uint8_t> payload(gex_AM_LUBRequestMedium());
  const auto argument = static_cast<gex_AM_Arg_t>(index);
  if (index % 2 == 0) return gex_AM_RequestShort1(team, 0, flood_short, flags, argument) == 0;
  const std::size_t bytes =
      index % 4 == 1 ? payload.size() : std::size_t{index} * 997 % payload.size();
  for (std::size_t at = 0; at < bytes; ++at) payload[at] = byte_of(rank, argument, at);
  return gex_AM_RequestMedium1(team, 0, flood_medium, payload.data(), bytes, GEX_EVENT_NOW, flags,
                               argument) == 0;
}

/// Returns true if all requests of the flood are done.
bool is_over(std::uint32_t sent) {
  return by_rma ? gex_NBI_Test(GEX_EC_ALL, 0) == 0 : answers == sent;
}

/// The work of every rank but 0. The last one waits for room inside its requests, where it has to
/// serve the others; these ask for no more than there is room for, and exchange messages along a
/// ring of all but rank 0.
void flood() {
  const bool waits = rank == size - 1;
  const gex_Rank_t next = rank + 1 < size ? rank + 1 : 1;
  // One of each, so that connections and first buffers do not count.
  std::uint32_t sent = 0;
  while (sent < 2) flood_once(sent++, 0);
  poll_until([&] { return is_over(sent); });
  gex_AM_RequestShort0(team, next, talk_request, 0);
  poll_until([] { return talks == 1; });
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const long before = memory_kib();

  std::uint32_t asked = talks;
  std::uint32_t talks_when_full = 0;
  bool full = false;
  while (!awake) {
    if (sent + after_silence == max_requests) fail("requests that were taken", sent, 0);
    if (flood_once(sent, waits ? 0 : GEX_FLAG_IMMEDIATE)) {
      ++sent;
    } else if (!full) {
      full = true;
      talks_when_full = talks;
    }
    if (!waits && asked == talks &&
        gex_AM_RequestShort0(team, next, talk_request, GEX_FLAG_IMMEDIATE) == 0) {
      ++asked;
    }
    gasnet_AMPoll();
  }
  const std::uint32_t exchanges = full ? talks - talks_when_full : 0;
  long growth = memory_kib() - before;
  for (std::uint32_t i = 0; i < after_silence; ++i) flood_once(sent++, 0);
  poll_until([&] { return is_over(sent) && talks == asked; });
  for (std::uint32_t index = 1; by_rma && index < sent; index += 2) {
    if (mine[index] != word_for(rank, index))
      fail("a word that was got", static_cast<long>(mine[index]), index);
  }
  growth = std::max(growth, memory_kib() - before);
  gex_AM_RequestShort3(team, 0, sum_up, 0, static_cast<gex_AM_Arg_t>(sent),
                       static_cast<gex_AM_Arg_t>(exchanges), static_cast<gex_AM_Arg_t>(growth));
}

/// The work of rank 0.
void be_silent(long seconds, long max_kib) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const std::uint32_t arrivals_before = arrivals;
  const long before = memory_kib();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  if (arrivals != arrivals_before) fail("handled without a poll", arrivals, arrivals_before);
  std::printf("awake\n");
  std::fflush(stdout);
  for (gex_Rank_t peer = 1; peer < size; ++peer) gex_AM_RequestShort0(team, peer, wake_up, 0);
  poll_until([] {
    return std::all_of(sums.begin() + 1, sums.end(),
                       [](const Sum& sum) { return sum.reported != 0; });
  });
  sums[0].growth_kib = static_cast<gex_AM_Arg_t>(memory_kib() - before);

  long requests = 0;
  long exchanges = 0;
  long growth = 0;
  for (gex_Rank_t peer = 0; peer < size; ++peer) {
    const Sum& sum = sums[peer];
    for (std::uint32_t index = 0; index < max_requests; ++index) {
      const bool sent = index < static_cast<std::uint32_t>(sum.requests);
      if (by_rma) {
        const std::uint64_t word = words_of_0[std::size_t{peer} * max_requests + index];
        const std::uint64_t wanted = sent || !is_put(index) ? word_for(peer, index) : 0;
        if (word != wanted) fail("a word", static_cast<long>(word), static_cast<long>(wanted));
        continue;
      }
      const int times = sent ? 1 : 0;
      if (arrived[peer][index] != times) fail("a request came", arrived[peer][index], times);
    }
    // All but the one that is silent and the one that waits in its requests.
    if (peer != 0 && peer != size - 1 && sum.exchanges < 100)
      fail("exchanges during the silence", sum.exchanges, 100);
    if (sum.growth_kib > max_kib) {
      const std::string what = "growth of the memory of rank " + std::to_string(peer) + " in KiB";
      fail(what.c_str(), sum.growth_kib, max_kib);
    }
    requests += sum.requests;
    exchanges += sum.exchanges;
    growth = std::max<long>(growth, sum.growth_kib);
  }
  std::printf("%ld %s, %ld exchanges without rank 0, memory grew by %ld of %ld KiB\n", requests,
              by_rma ? "puts and gets of the flood were carried out"
                     : "requests of the flood came once each",
              exchanges, growth, max_kib);
}

[[noreturn]] void leave(const std::string& how) {
  if (how == "exit") std::exit(3);
  if (how == "success") std::exit(0);
  if (how == "_exit") _exit(4);
  if (how == "gasnet_exit") gasnet_exit(5);
  fail("no such way to leave", 0, 0);
}

/// From here on signals are counted; the launcher learns that this rank is there.
void begin() {
  std::signal(SIGUSR1, [](int) { signals = signals + 1; });
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  std::printf("ready %d\n", getpid());
  std::fflush(stdout);
}

/// A request, which will be answered, and a word of this rank's in the peer's memory.
bool bulk = false;
constexpr std::size_t bulk_words = 16384;
/// The first word of what a rank puts in bulk.
constexpr std::size_t bulk_at(gex_Rank_t source) {
  return 1024 + source * bulk_words;
}

void talk_to(gex_Rank_t peer, std::uint64_t word) {
  gex_AM_RequestShort0(team, peer, talk_request, 0);
  void* address = nullptr;
  gex_Segment_QueryBound(team, peer, &address, nullptr, nullptr);
  if (bulk) {
    std::vector<std::uint64_t> words(bulk_words, word);
    gex_RMA_PutBlocking(team, peer, static_cast<std::uint64_t*>(address) + bulk_at(rank),
                        words.data(), bulk_words * sizeof word, 0);
  }
  gex_RMA_PutBlocking(team, peer, static_cast<std::uint64_t*>(address) + rank, &word, sizeof word,
                      0);
}

void leave_when_reported(const std::string& how) {
  begin();
  if (rank == 2) {
    poll_until([] { return signals != 0; });
    leave(how);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  fail("a barrier without all ranks", 0, 0);
}

void go_on_without() {
  begin();
  if (rank == 2) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::uint32_t asked = 0;
  while (std::chrono::steady_clock::now() < end) {
    talk_to(2, ++asked);
    poll_until([&] { return talks == asked; });
  }
  if (rank != 0) return;
  std::printf("talked: %u answers of the rank that has returned\n", talks);
  std::fflush(stdout);
}

/// Rounds in which all ranks send to all others and put into their memory, until rank 0 reports
/// that it is enough.
void serve(std::uint64_t* mine, const std::string& how_to_leave) {
  bulk = how_to_leave == "bulk";
  begin();
  poll_until([] { return signals != 0; });
  std::uint64_t round = 0;
  std::uint32_t asked = 0;
  while (last_round == 0 || round < static_cast<std::uint64_t>(last_round)) {
    ++round;
    if (rank == 2 && round == 20 && !how_to_leave.empty()) leave(how_to_leave);
    if (rank == 0 && last_round == 0 && signals > 1) {
      for (gex_Rank_t peer = 0; peer < size; ++peer) {
        gex_AM_RequestShort1(team, peer, stop, 0, static_cast<gex_AM_Arg_t>(round));
        ++asked;
      }
    }
    for (gex_Rank_t peer = 0; peer < size; ++peer) talk_to(peer, round);
    asked += size;
    // A rank that passes the barriers can see whether this is the last round.
    poll_until([&] { return talks == asked; });
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    for (gex_Rank_t peer = 0; peer < size; ++peer) {
      if (mine[peer] != round)
        fail("the round of a put", static_cast<long>(mine[peer]), static_cast<long>(round));
      const std::uint64_t* const words = mine + bulk_at(peer);
      if (bulk && std::any_of(words, words + bulk_words, [&](auto word) { return word != round; }))
        fail("the round of a put of many words", 0, static_cast<long>(round));
    }
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (rank == 0 && round == 1) {
      std::printf("talking\n");
      std::fflush(stdout);
    }
  }
  if (rank == 0) std::printf("%llu rounds of all ranks\n", static_cast<unsigned long long>(round));
}

template <class F>
gex_AM_Entry_t entry(gex_AM_Index_t index, F* handler, gex_Flags_t flags, unsigned arguments) {
  gex_AM_Entry_t made{};
  made.gex_index = index;
  made.gex_fnptr = reinterpret_cast<gex_AM_Fn_t>(handler);
  made.gex_flags = flags;
  made.gex_nargs = arguments;
  return made;
}

}  // namespace

int main(int count, char** arguments) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Client_Init(&client, &endpoint, &team, "FAULTS", &count, &arguments, 0);
  rank = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  constexpr gex_Flags_t request = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT;
  constexpr gex_Flags_t reply = GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT;
  std::array<gex_AM_Entry_t, handlers_end - first_handler> table = {
      entry(flood_short, on_flood_short, request, 1),
      entry(flood_medium, on_flood_medium, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1),
      entry(flood_answer, on_flood_answer, reply, 1),
      entry(talk_request, on_talk_request, request, 0),
      entry(talk_answer, on_talk_answer, reply, 0),
      entry(wake_up, on_wake_up, request, 0),
      entry(sum_up, on_sum_up, request, 3),
      entry(stop, on_stop, request, 1),
  };
  gex_EP_RegisterHandlers(endpoint, table.data(), table.size());
  if (rank == 0) {
    sums.resize(size);
    arrived.assign(size, std::vector<std::uint8_t>(max_requests));
  }
  gex_Segment_t segment;
  gex_Segment_Attach(&segment, team, size * max_requests * sizeof *words_of_0);

  const std::string mode = count > 1 ? arguments[1] : "";
  if ((mode == "flood" || mode == "flood-rma") && count == 4) {
    by_rma = mode == "flood-rma";
    void* address = nullptr;
    gex_Segment_QueryBound(team, 0, &address, nullptr, nullptr);
    words_of_0 = static_cast<std::uint64_t*>(address);
    for (std::size_t word = 0; rank == 0 && word < std::size_t{size} * max_requests; ++word) {
      const auto index = static_cast<std::uint32_t>(word % max_requests);
      const auto source = static_cast<gex_Rank_t>(word / max_requests);
      words_of_0[word] = is_put(index) ? 0 : word_for(source, index);
    }
    if (by_rma) mine.resize(max_requests);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (rank == 0) {
      be_silent(std::atol(arguments[2]), std::atol(arguments[3]));
    } else {
      flood();
    }
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  } else if (mode == "serve") {
    serve(static_cast<std::uint64_t*>(gex_Segment_QueryAddr(segment)),
          count > 2 ? arguments[2] : "");
  } else if (mode == "leave" && count == 3) {
    leave_when_reported(arguments[2]);
  } else if (mode == "go-on-without") {
    go_on_without();
  } else {
    fail("no such mode", 0, 0);
  }
  return 0;
}
