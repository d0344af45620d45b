// A client whose start, life and end the tests watch from outside: lifecycle_probe SCENARIO [ARGS].
// An error that a scenario itself finds is a line on stderr and status 90.

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "print_line.h"

namespace {

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t team;
gex_Segment_t segment;

gex_Rank_t rank() {
  return gex_System_QueryJobRank();
}
gex_Rank_t size() {
  return gex_System_QueryJobSize();
}
gex_Rank_t next() {
  return (rank() + 1) % size();
}
void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

std::vector<std::string> arguments;
unsigned long argument(std::size_t n, unsigned long otherwise = 0) {
  return n < arguments.size() ? std::strtoul(arguments[n].c_str(), nullptr, 0) : otherwise;
}
bool am_first() {
  return rank() == 0;
}
bool am_rank(std::size_t n) {
  return rank() == argument(n);
}

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "lifecycle_probe: rank %u: %s\n", unsigned{rank()}, what);
  gasnet_exit(90);
}

volatile int requests = 0;
volatile int replies = 0;
void on_request(gex_Token_t token) {
  requests = requests + 1;
  gex_AM_ReplyShort0(token, 201, 0);
}
void on_reply(gex_Token_t) {
  replies = replies + 1;
}
void on_exit_request(gex_Token_t, gex_AM_Arg_t code) {
  gasnet_exit(code);
}
void die() {
  raise(SIGKILL);
}
void on_die_request(gex_Token_t token) {
  gex_AM_ReplyShort0(token, 201, 0);
  die();
}

gex_HSL_t held = GEX_HSL_INITIALIZER;
void take_held(gex_Token_t) {
  gex_HSL_Lock(&held);
  gex_HSL_Unlock(&held);
}

void start(int* argc, char*** argv) {
  if (gex_Client_Init(&client, &endpoint, &team, "LIFECYCLE", argc, argv, 0) != GASNET_OK)
    wrong("gex_Client_Init failed");
  gex_AM_Entry_t table[] = {
      {200, reinterpret_cast<gex_AM_Fn_t>(on_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
       nullptr, "on_request"},
      {201, reinterpret_cast<gex_AM_Fn_t>(on_reply), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0,
       nullptr, "on_reply"},
      {202, reinterpret_cast<gex_AM_Fn_t>(on_exit_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
       1, nullptr, "on_exit_request"},
      {203, reinterpret_cast<gex_AM_Fn_t>(on_die_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
       0, nullptr, "on_die_request"},
      {204, reinterpret_cast<gex_AM_Fn_t>(take_held), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
       nullptr, "take_held"}};
  if (gex_EP_RegisterHandlers(endpoint, table, std::size(table)) != GASNET_OK) wrong("no handlers");
  barrier();
}

void attach(uintptr_t bytes = GASNET_PAGESIZE) {
  if (gex_Segment_Attach(&segment, team, bytes) != GASNET_OK) {
    print("attach refused\n");
    gasnet_exit(91);
  }
}

char* segment_of(gex_Rank_t peer) {
  void* address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, nullptr, nullptr, 0));
  if (address == nullptr) wrong("a peer has no segment");
  return static_cast<char*>(address);
}

/// One put to the neighbour, seen by it behind a barrier.
void exchange_with_neighbour() {
  const std::uint32_t mine = rank() + 1000;
  gex_RMA_PutBlocking(team, next(), segment_of(next()), &mine, sizeof mine, 0);
  barrier();
  std::uint32_t theirs = 0;
  std::memcpy(&theirs, gex_Segment_QueryAddr(segment), sizeof theirs);
  if (theirs != (rank() + size() - 1) % size() + 1000) wrong("the neighbour's put is not there");
  barrier();
}

void ring() {
  attach();
  exchange_with_neighbour();
  print("rank %u of %u\n", unsigned{rank()}, unsigned{size()});
}

void atomic_domain() {
  attach();
  gex_AD_t domain = GEX_AD_INVALID;
  if (arguments.empty()) {
    gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_ADD, 0);
  } else {
    gex_AD_Create(&domain, team, GEX_DT_DBL, GEX_OP_ADD | GEX_OP_MIN, 0);
  }
  barrier();
  gex_AD_Destroy(domain);
  print("domain of rank %u\n", unsigned{rank()});
}

void attach_bytes() {
  attach(argument(0));
  print("attached %zu\n", static_cast<std::size_t>(gex_Segment_QuerySize(segment)));
}

void maximum() {
  print("local %zu global %zu\n", static_cast<std::size_t>(gasnet_getMaxLocalSegmentSize()),
        static_cast<std::size_t>(gasnet_getMaxGlobalSegmentSize()));
}

/// As clients do that take all there is, when others have taken memory since they asked.
void attach_maximum() {
  const uintptr_t bytes = gasnet_getMaxLocalSegmentSize();
  const std::vector<char> taken(std::size_t{32} << 20, 'x');
  barrier();
  attach(bytes);
  print("attached all, %d\n", taken[bytes % taken.size()]);
}

/// Every byte of a segment of that many bytes, written by the neighbour and read by the owner.
void fill_bytes() {
  const std::size_t bytes = argument(0);
  attach(bytes);
  std::vector<char> block(1 << 20);
  for (std::size_t at = 0; at < bytes; at += block.size()) {
    std::memset(block.data(), static_cast<int>(rank() + at / block.size()), block.size());
    gex_RMA_PutNBI(team, next(), segment_of(next()) + at, block.data(),
                   std::min(block.size(), bytes - at), GEX_EVENT_NOW, 0);
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
  const gex_Rank_t previous = (rank() + size() - 1) % size();
  const auto* own = static_cast<const char*>(gex_Segment_QueryAddr(segment));
  for (std::size_t at = 0; at < bytes; at += block.size()) {
    std::memset(block.data(), static_cast<int>(previous + at / block.size()), block.size());
    if (std::memcmp(own + at, block.data(), std::min(block.size(), bytes - at)) != 0)
      wrong("a byte is lost");
  }
  print("filled %zu\n", bytes);
  barrier();
}

/// Answered requests and puts among all ranks until a process ends the job.
void flood() {
  attach(1 << 20);
  std::vector<char> block(30000, 'x');
  barrier();
  print("flooding %d\n", static_cast<int>(getpid()));
  for (;;) {
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      gex_AM_RequestShort0(team, peer, 200, 0);
      gex_RMA_PutNBI(team, peer, segment_of(peer), block.data(), block.size(), GEX_EVENT_NOW, 0);
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}

/// The others wait in barriers that will never complete.
void wait_for_ever() {
  for (;;) barrier();
}

void exit_from_main() {
  if (am_rank(0)) gasnet_exit(static_cast<int>(argument(1)));
  wait_for_ever();
}

/// All ranks find that they cannot go on; rank 0, which prints why, comes later than the guardian
/// waits before it sends signals when the job is being ended.
void exit_together() {
  for (int number = 1; number < NSIG; ++number) signal(number, [](int) { wrong("a signal came"); });
  attach();
  barrier();
  if (rank() == 0) {
    for (int i = 0; i < 300; ++i) {
      usleep(1000);
      gasnet_AMPoll();
    }
    std::printf("the reason\n");
  }
  gasnet_exit(1);
}

void exit_from_handler() {
  if (am_rank(0)) gex_AM_RequestShort1(team, next(), 202, 0, static_cast<int>(argument(1)));
  wait_for_ever();
}

/// While requests arrive whose handler takes the lock.
void exit_holding_lock() {
  barrier();
  if (rank() == 0) {
    gex_HSL_Lock(&held);
    gasnet_exit(0);
  }
  for (unsigned round = 0;; ++round) {
    gex_AM_RequestShort0(team, 0, 204, GEX_FLAG_IMMEDIATE);
    gasnet_AMPoll();
    // Seldom: a request is to be queued at rank 0 when it exits.
    if (round % 16 == 0) usleep(100);
  }
}

int signal_code = 0;
void exit_from_signal_handler() {
  signal_code = static_cast<int>(argument(1));
  attach();
  if (am_rank(0)) {
    signal(SIGALRM, [](int) { gasnet_exit(signal_code); });
    ualarm(200'000, 0);
  }
  // In the library's own code when the signal comes.
  for (;;) exchange_with_neighbour();
}

void exit_from_two_ranks() {
  barrier();
  if (rank() == 0) gasnet_exit(static_cast<int>(argument(0)));
  if (rank() == 1) gasnet_exit(static_cast<int>(argument(1)));
  wait_for_ever();
}

void exit_from_two_threads() {
  if (rank() != 0) wait_for_ever();
  std::thread other([] { gasnet_exit(static_cast<int>(argument(0))); });
  gasnet_exit(static_cast<int>(argument(1)));
}

/// One rank is done early; the others still need its memory.
void return_early() {
  attach();
  barrier();
  if (am_rank(0)) return;
  usleep(300000);
  const auto gone = static_cast<gex_Rank_t>(argument(0));
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t value = 7000 + i;
    gex_RMA_PutBlocking(team, gone, segment_of(gone) + 8 * rank(), &value, 8, 0);
    if (gex_RMA_GetBlockingVal(team, gone, segment_of(gone) + 8 * rank(), 8, 0) != value)
      wrong("the rank that returned no longer answers");
  }
  print("served\n");
}

/// Requests and replies while their connections are broken, again and again.
void break_connections() {
  constexpr int rounds = 30;
  constexpr int burst = 20;
  attach();
  barrier();
  for (int round = 1; round <= rounds; ++round) {
    for (int i = 0; i < burst; ++i) {
      gex_AM_RequestShort0(team, next(), 200, 0);
      if (am_first() && i == burst / 2 &&
          std::system("ss -K state established >/dev/null 2>&1") != 0) {
        wrong("connections cannot be broken");
      }
    }
    while (replies < burst * round) gasnet_AMPoll();
  }
  print("all came\n");
}

/// All ranks but the first.
gex_TM_t make_others() {
  gex_TM_t others = GEX_TM_INVALID;
  gex_TM_Split(&others, team, am_first() ? 1 : 0, rank(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return others;
}

/// Rank 0 returns with a collective call still to do, which the others make.
void miss_call() {
  attach();
  const std::string& call = arguments.at(0);
  gex_TM_t halves = GEX_TM_INVALID;
  if (call == "team") {
    gex_TM_Split(&halves, team, rank() / 2, rank(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  }
  barrier();
  if (am_first()) return;
  std::uint64_t value = rank();
  if (call == "barrier") {
    barrier();
  } else if (call == "test") {
    const gex_Event_t event = gex_Coll_BarrierNB(team, 0);
    while (gex_Event_Test(event) != GASNET_OK) gasnet_AMPoll();
  } else if (call == "broadcast") {
    gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &value, &value, sizeof value, 0));
  } else if (call == "reduce") {
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &value, &value, GEX_DT_U64, sizeof value, 1,
                                          GEX_OP_ADD, nullptr, nullptr, 0));
  } else if (call == "split") {
    make_others();
  } else if (call == "team") {
    // Only one waits for who has left; the other half has no part in it, and calls nothing.
    while (rank() > 1) gasnet_AMPoll();
    gex_Event_Wait(gex_Coll_BarrierNB(halves, 0));
  } else {
    wrong("no such call");
  }
  print("was released\n");
}

/// Rank 0 returns with all its calls made; the others go on for a while, some later than others.
void go_on_without() {
  attach();
  const gex_TM_t others = make_others();
  std::uint64_t value = 1;
  std::uint64_t sum = 0;
  const gex_Event_t last = gex_Coll_ReduceToAllNB(team, &sum, &value, GEX_DT_U64, sizeof value, 1,
                                                  GEX_OP_ADD, nullptr, nullptr, 0);
  if (am_first()) {
    gex_Event_Wait(last);
    return;
  }
  // Longer than what it takes to find a wait that cannot end.
  if (rank() == 1) {
    for (int i = 0; i < 25; ++i) usleep(100000);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(others, 0));
  gex_Event_Wait(last);
  if (sum != size()) wrong("a sum is wrong");
  print("done\n");
}

/// For a message that rank would have had to send.
void return_while_others_wait() {
  while (!am_rank(0)) gasnet_AMPoll();
}

void call_exit() {
  if (am_rank(0)) std::exit(static_cast<int>(argument(1)));
  wait_for_ever();
}

/// Children of a rank end in every way a child can; the job goes on.
void children() {
  attach();
  exchange_with_neighbour();
  if (am_rank(0)) {
    for (int way = 0; way < 4; ++way) {
      const pid_t child = fork();
      if (child == 0) {
        if (way == 0) std::exit(0);
        if (way == 1) _exit(5);
        if (way == 2) execlp("true", "true", static_cast<char*>(nullptr));
        std::abort();
      }
      int status = 0;
      if (waitpid(child, &status, 0) != child) wrong("the child is lost");
    }
  }
  exchange_with_neighbour();
  print("rank %u of %u\n", unsigned{rank()}, unsigned{size()});
}

std::string own_path;
/// A rank runs another libgex program: a job of its own.
void run_another() {
  attach();
  exchange_with_neighbour();
  if (am_rank(0)) {
    const pid_t child = fork();
    if (child == 0) {
      // It would warn that it is alone.
      setenv("GASNET_QUIET", "1", 1);
      execl(own_path.c_str(), own_path.c_str(), "ring", static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) wrong("the other program failed");
  }
  exchange_with_neighbour();
  print("outer rank %u of %u\n", unsigned{rank()}, unsigned{size()});
}

void die_of_signal() {
  barrier();
  if (am_rank(0)) {
    signal(static_cast<int>(argument(1)), SIG_DFL);
    raise(static_cast<int>(argument(1)));
  }
  wait_for_ever();
}

// How rank 1 can die, by what it calls.

void die_in_put() {
  signal(SIGSEGV, [](int) { die(); });
  void* const unreadable =
      mmap(nullptr, GASNET_PAGESIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  gex_RMA_PutBlocking(team, rank(), segment_of(rank()), unreadable, 8, 0);
}

void put_to_itself() {
  const std::uint64_t value = 0;
  gex_RMA_PutBlocking(team, rank(), segment_of(rank()), &value, sizeof value, 0);
}

void die_after_put() {
  put_to_itself();
  die();
}

[[noreturn]] void poll_for_ever() {
  for (;;) gasnet_AMPoll();
}

void die_in_poll() {
  gex_AM_RequestShort0(team, 0, 200, 0);
  poll_for_ever();
}
/// It polls in the header's loop, which sleeps.
void die_in_sleeping_wait() {
  gex_AM_RequestShort0(team, 0, 200, 0);
  GASNET_BLOCKUNTIL(requests > 1);
}

/// One thread waits in a call while another, whose calls are later ones, dies.
void die_beside_wait() {
  std::thread([] {
    // Long enough for the main thread to have begun its wait.
    for (int i = 0; i < 500; ++i) {
      put_to_itself();
      usleep(2000);
    }
    die();
  }).detach();
  barrier();
}

void exit_after_put() {
  put_to_itself();
  _exit(3);
}

void die_in_attach() {
  if (rank() == 1) gasnet_client_attach_hook = [](void*, uintptr_t) { die(); };
  attach();
  poll_for_ever();
}

void die_by_call() {
  attach();
  const std::map<std::string, std::function<void()>> ways = {
      {"in_put", die_in_put},
      {"after_put", die_after_put},
      {"in_poll", die_in_poll},
      {"in_sleeping_poll", die_in_poll},
      {"in_sleeping_wait", die_in_sleeping_wait},
      {"beside_wait", die_beside_wait},
      {"exit_after_put", exit_after_put},
  };
  if (rank() == 1) ways.at(arguments.at(0))();
  // It has asked once it polls.
  GASNET_BLOCKUNTIL(requests != 0);
  // Long enough for the other rank's polls to have begun to sleep.
  if (arguments.at(0).find("sleeping") != std::string::npos) usleep(200'000);
  gex_AM_RequestShort0(team, 1, 203, 0);
  poll_for_ever();
}

void deferred_threads() {
  unsigned count = 9;
  const gex_ProgressThreadInfo_t* info = nullptr;
  if (gex_System_QueryProgressThreads(client, &count, &info, 0) != GASNET_OK) wrong("refused");
  if (count != 0) wrong("this library has no progress threads");
  if (gex_System_QueryProgressThreads(client, &count, &info, 0) != GASNET_ERR_RESOURCE)
    wrong("asked twice, answered twice");
  print("deferred\n");
}

void two_clients() {
  gex_Client_t other_client;
  gex_EP_t other_endpoint;
  gex_TM_t other_team;
  const int result =
      gex_Client_Init(&other_client, &other_endpoint, &other_team, "SECOND", nullptr, nullptr, 0);
  print("second client: %s\n", gasnet_ErrorName(result));
}

void two_segments() {
  attach(GASNET_PAGESIZE);
  const int result = gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);
  print("second segment: %s\n", gasnet_ErrorName(result));
}

/// From now on the system takes no memory of a file back, as it does not where that is locked.
void keep_memory_of_files() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_REMOVE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog whole = {static_cast<unsigned short>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0)
    wrong("no seccomp");
}

/// Pages of this process that are shared memory.
unsigned long shared_pages() {
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*u %*u %lu", &pages) != 1) wrong("no statm");
  std::fclose(file);
  return pages;
}

/// Asks for a segment that is refused since another rank's has a bad size.
void refused_segment() {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  keep_memory_of_files();
  const unsigned long before = shared_pages();
  const int result = gex_Segment_Attach(&segment, team, am_first() ? 4097 : bytes);
  const bool touched = shared_pages() - before > bytes / GASNET_PAGESIZE / 2;
  print("%s, %s\n", gasnet_ErrorName(result), touched ? "touched" : "untouched");
}

/// Reads a segment that does not exist yet, and one published late.
void publish_late() {
  const gex_TM_t parent = team;
  gex_TM_t before = GEX_TM_INVALID;
  gex_TM_Split(&before, parent, 0, -static_cast<int>(rank()), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  uintptr_t bytes = 7;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next(), nullptr, nullptr, &bytes, 0));
  if (bytes != 0) wrong("a segment before attach");
  bytes = 7;
  void* kept = &bytes;
  if (gex_Segment_QueryBound(team, next(), &kept, nullptr, &bytes) == 0 || bytes != 7 ||
      kept != &bytes)
    wrong("gex_Segment_QueryBound before attach");
  if (gex_EP_QuerySegment(endpoint) != GEX_SEGMENT_INVALID) wrong("an endpoint starts bound");
  // Publishing nothing is no error.
  if (gex_EP_PublishBoundSegment(team, &endpoint, 1, 0) != GASNET_OK) wrong("publish of nothing");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next(), nullptr, nullptr, &bytes, 0));
  if (bytes != 0) wrong("a segment out of nothing");
  // The team made before the segment reaches it, and so does a pair.
  attach(8192);
  const std::uint64_t value = 500 + rank();
  const gex_Rank_t peer = size() - 1 - next();
  gex_RMA_PutBlocking(before, peer, segment_of(next()), &value, 8, 0);
  gex_RMA_PutBlocking(gex_TM_Pair(endpoint, 0), next(), segment_of(next()) + 8, &value, 8, 0);
  barrier();
  std::uint64_t got[2];
  std::memcpy(got, gex_Segment_QueryAddr(segment), sizeof got);
  const std::uint64_t wanted = 500 + (rank() + size() - 1) % size();
  if (got[0] != wanted || got[1] != wanted) wrong("a put through an older team is lost");
  gex_TM_Destroy(before, nullptr, 0);
  print("published\n");
}

/// A part of this process's addresses that shows the memory of the neighborhood.
struct Mapped {
  std::size_t start, end;
  std::string access;
  bool dumped;
};
std::vector<Mapped> mapped_memory() {
  std::vector<Mapped> all;
  std::ifstream smaps("/proc/self/smaps");
  bool is_ours = false;
  for (std::string line; std::getline(smaps, line);) {
    Mapped one{0, 0, "", true};
    char access[5];
    if (std::sscanf(line.c_str(), "%zx-%zx %4s ", &one.start, &one.end, access) == 3) {
      is_ours = line.find("gex-neighborhood") != std::string::npos;
      one.access = access;
      if (is_ours) all.push_back(one);
    } else if (is_ours && line.starts_with("VmFlags:")) {
      all.back().dumped = line.find(" dd") == std::string::npos;
    }
  }
  return all;
}
/// In private mappings there are tables of the job's ranks.
std::size_t mapped_bytes() {
  std::size_t bytes = 0;
  for (const Mapped& one : mapped_memory())
    bytes += one.access.ends_with('s') ? one.end - one.start : 0;
  return bytes;
}
std::size_t dumped_bytes() {
  std::size_t bytes = 0;
  for (const Mapped& one : mapped_memory()) bytes += one.dumped ? one.end - one.start : 0;
  return bytes;
}

/// How much more a core dump has with a segment of that many bytes.
void dumped_segment() {
  const std::size_t before = dumped_bytes();
  attach(argument(0));
  print("dumped %zu\n", dumped_bytes() - before);
}

/// Returns true if an access to that address is a signal.
bool is_guarded(char* address) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile char*>(address) = 1;
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/// The segment at that address, and nothing else, is mapped there.
void check_mapped(char* address, std::size_t bytes, bool is_own) {
  const auto start = reinterpret_cast<std::size_t>(address);
  for (const Mapped& one : mapped_memory()) {
    if (one.start != start) continue;
    if (one.end != start + bytes) wrong("more or less than a segment is mapped");
    if (one.access != "rw-s") wrong("a segment cannot be read and written");
    if (one.dumped != is_own) wrong("a core dump has other segments than the own ones");
    if (!is_guarded(address + bytes)) wrong("an access behind a segment is no signal");
    return;
  }
  wrong("a segment is not mapped");
}

/// Only memory that is used is mapped.
void mapped_as_used() {
  constexpr std::size_t bytes = 3 << 20;
  const std::size_t before = mapped_bytes();
  // The rings, slabs and flags of a few ranks.
  if (before > size() * (std::size_t{2} << 20)) wrong("unused memory is mapped");
  attach(bytes);
  std::size_t segments = 0;
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    void* address = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, nullptr, &address, nullptr, 0));
    if (address == nullptr) continue;
    check_mapped(static_cast<char*>(address), bytes, peer == rank());
    segments += bytes;
  }
  if (mapped_bytes() != before + segments) wrong("more is mapped than the segments");
  exchange_with_neighbour();
  // The network may reach into the neighbour's by itself.
  const std::size_t attached = mapped_bytes();
  if (attached > before + segments + bytes) wrong("puts map more than a segment");

  // A segment of another endpoint's, as long as it is published, and the same when it is again.
  gex_EP_t other = GEX_EP_INVALID;
  gex_Segment_t created = GEX_SEGMENT_INVALID;
  if (gex_EP_Create(&other, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK) wrong("no endpoint");
  if (gex_Segment_Create(&created, client, nullptr, bytes, GEX_MK_HOST, 0) != GASNET_OK)
    wrong("no segment");
  if (gex_EP_BindSegment(other, created, 0) != GASNET_OK) wrong("not bound");
  for (int round = 0; round < 2; ++round) {
    if (gex_EP_PublishBoundSegment(team, &other, 1, 0) != GASNET_OK) wrong("not published");
    if (mapped_bytes() != attached + segments) wrong("a published segment is not mapped once");
  }
  barrier();
  if (gex_EP_BindSegment(other, GEX_SEGMENT_INVALID, 0) != GASNET_OK) wrong("not unbound");
  if (gex_EP_PublishBoundSegment(team, &other, 1, 0) != GASNET_OK) wrong("nothing not published");
  gex_Segment_Destroy(created, 0);
  if (mapped_bytes() != attached) wrong("a segment stays mapped that is gone");
  print("mapped as used\n");
}

/// A segment of another size on each rank.
void uneven_segments() {
  const uintptr_t bytes = GASNET_PAGESIZE * (1 + rank() * 3);
  attach(bytes);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    uintptr_t theirs = 0;
    void* address = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, nullptr, &theirs, 0));
    if (theirs != GASNET_PAGESIZE * (1 + peer * 3)) wrong("a peer's size is wrong");
    const char last = static_cast<char>(rank() + 1);
    gex_RMA_PutBlocking(team, peer, static_cast<char*>(address) + theirs - 1 - rank(), &last, 1, 0);
  }
  barrier();
  const auto* end = static_cast<const char*>(gex_Segment_QueryAddr(segment)) + bytes;
  for (gex_Rank_t peer = 0; peer < size(); ++peer)
    if (end[-1 - static_cast<int>(peer)] != static_cast<char>(peer + 1)) wrong("a byte is lost");
  print("uneven\n");
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  own_path = argv[0];
  const std::string scenario = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) arguments.emplace_back(argv[i]);

  // What happens before the start.
  if (scenario == "buffered") std::printf("before\n");
  if (scenario == "thread_first") std::thread([] { pause(); }).detach();
  if (scenario == "attach_before_start") {
    gex_Segment_t segment;
    gex_Segment_Attach(&segment, GEX_TM_INVALID, GASNET_PAGESIZE);
  }
  if (scenario == "die_before_start") die();
  if (scenario == "die_in_start") alarm(4);
  const gex_Flags_t flags = scenario == "deferred_threads" ? GEX_FLAG_DEFER_THREADS : 0;
  if (flags != 0) {
    if (gex_Client_Init(&client, &endpoint, &team, "LIFECYCLE", &argc, &argv, flags) != GASNET_OK)
      return 92;
    deferred_threads();
    return 0;
  }
  start(&argc, &argv);

  const std::map<std::string, std::function<void()>> scenarios = {
      {"ring", ring},
      {"atomic_domain", atomic_domain},
      {"attach", attach_bytes},
      {"maximum", maximum},
      {"attach_maximum", attach_maximum},
      {"fill", fill_bytes},
      {"flood", flood},
      {"exit_from_main", exit_from_main},
      {"exit_from_handler", exit_from_handler},
      {"exit_holding_lock", exit_holding_lock},
      {"exit_together", exit_together},
      {"exit_from_signal_handler", exit_from_signal_handler},
      {"exit_from_two_ranks", exit_from_two_ranks},
      {"exit_from_two_threads", exit_from_two_threads},
      {"return_early", return_early},
      {"miss_call", miss_call},
      {"break_connections", break_connections},
      {"go_on_without", go_on_without},
      {"return_while_others_wait", return_while_others_wait},
      {"call_exit", call_exit},
      {"children", children},
      {"run_another", run_another},
      {"die_of_signal", die_of_signal},
      {"die_in_attach", die_in_attach},
      {"die_by_call", die_by_call},
      {"two_clients", two_clients},
      {"two_segments", two_segments},
      {"refused_segment", refused_segment},
      {"publish_late", publish_late},
      {"uneven_segments", uneven_segments},
      {"mapped_as_used", mapped_as_used},
      {"dumped_segment", dumped_segment},
      {"buffered", [] { std::printf("after %u\n", unsigned{rank()}); }},
      {"thread_first", [] { print("started\n"); }},
  };
  const auto found = scenarios.find(scenario);
  if (found == scenarios.end()) wrong("no such scenario");
  found->second();
  return 0;
}
