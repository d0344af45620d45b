// Ranks, shared heap, pointers, put and get, teams and collectives, between all ranks. Prints
// nothing and ends with 0 if all is right; with a name of a misuse, ends by that one.
#include <time.h>

#include <new>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_set>
#include <upcxx/upcxx.hpp>
#include <vector>

#include "allocations.h"

namespace {

using upcxx::future;
using upcxx::global_ptr;
using upcxx::operation_cx;
using upcxx::promise;
using upcxx::source_cx;

#define REQUIRE(test) UPCXX_ASSERT_ALWAYS((test), "failed: " << #test)

struct Counted {
  explicit Counted(int value) : value(value) { ++alive; }
  Counted() : Counted(7) {
    if (alive == throw_at) throw std::string("constructor");
  }
  ~Counted() { --alive; }
  int value;
  static int alive;
  static int throw_at;
};
int Counted::alive = 0;
int Counted::throw_at = -1;

void heap() {
  const std::int64_t used = upcxx::shared_segment_used();
  REQUIRE(upcxx::shared_segment_size() >= (8 << 20));
  const auto one = upcxx::new_<Counted>(3);
  REQUIRE(one.local()->value == 3 && one.where() == upcxx::rank_me() && one.is_local());
  const auto many = upcxx::new_array<Counted>(5);
  REQUIRE(Counted::alive == 6 && many.local()[4].value == 7);
  Counted::throw_at = 9;
  bool thrown = false;
  try {
    upcxx::new_array<Counted>(5);
  } catch (const std::string&) {
    thrown = true;
  }
  REQUIRE(thrown && Counted::alive == 6);
  upcxx::delete_(one);
  upcxx::delete_array(many);
  upcxx::delete_(global_ptr<Counted>());
  REQUIRE(Counted::alive == 0);
  REQUIRE(upcxx::shared_segment_used() == used);
  const std::size_t all = std::size_t(upcxx::shared_segment_size()) + 1;
  REQUIRE(upcxx::allocate(all) == nullptr && upcxx::allocate<char>(all).is_null());
  REQUIRE(upcxx::new_array<char>(all, std::nothrow).is_null());
  try {
    upcxx::new_array<char>(all);
    REQUIRE(false);
  } catch (const upcxx::bad_shared_alloc& error) {
    REQUIRE(std::string(error.what()).find("UPCXX_SHARED_HEAP_SIZE") != std::string::npos);
  }
  void* const aligned = upcxx::allocate(100, 4096);
  REQUIRE(reinterpret_cast<std::uintptr_t>(aligned) % 4096 == 0);
  upcxx::deallocate(aligned);
  REQUIRE(upcxx::shared_segment_used() == used);
}

void pointers() {
  const auto first = upcxx::new_array<int>(10);
  auto at = first;
  REQUIRE(at++ == first && at == first + 1 && --at == first && 3 + at - first == 3);
  REQUIRE(at < first + 1 && first >= at && at != nullptr && at);
  const global_ptr<const int> constant = first + 2;
  REQUIRE(constant - first == 2 && constant.local() == first.local() + 2);
  REQUIRE(upcxx::const_pointer_cast<int>(constant) == first + 2);
  const global_ptr<int, upcxx::memory_kind::any> any = first;
  REQUIRE(any.dynamic_kind() == upcxx::memory_kind::host);
  REQUIRE(upcxx::static_kind_cast<upcxx::memory_kind::host>(any) == first);
  REQUIRE(upcxx::dynamic_kind_cast<upcxx::memory_kind::cuda_device>(any).is_null());
  REQUIRE(upcxx::reinterpret_pointer_cast<char>(first) + 4 ==
          upcxx::reinterpret_pointer_cast<char>(first + 1));
  REQUIRE(upcxx::to_global_ptr(first.local() + 3) == first + 3);
  int outside = 0;
  REQUIRE(upcxx::try_global_ptr(&outside).is_null());
  const std::unordered_set<global_ptr<int>> set{first, first + 1, first};
  REQUIRE(set.size() == 2);
  std::ostringstream a;
  std::ostringstream b;
  a << first << first + 1;
  b << first + 1 << first;
  REQUIRE(a.str().size() == b.str().size() && a.str() != b.str());
  upcxx::delete_array(first);
}

void put_and_get() {
  constexpr int count = 1000;
  const int me = upcxx::rank_me();
  const int peer = (me + 1) % upcxx::rank_n();
  const auto mine = upcxx::new_array<long>(count + 1);
  std::vector<global_ptr<long>> of;
  for (int rank = 0; rank < upcxx::rank_n(); ++rank) {
    of.push_back(upcxx::broadcast(mine, rank).wait());
    REQUIRE(of[std::size_t(rank)].where() == rank);
  }
  const auto there = of[std::size_t(peer)];
  upcxx::rput(long(me), there).wait();
  REQUIRE(upcxx::rget(there).wait() == me);
  std::vector<long> values(count);
  std::iota(values.begin(), values.end(), me);
  auto [source, done] = upcxx::rput(values.data(), there + 1, count,
                                    source_cx::as_future() | operation_cx::as_future());
  upcxx::when_all(source, done).wait();
  std::vector<long> back(count);
  upcxx::rget(there + 1, back.data(), count).wait();
  REQUIRE(back == values);

  // Every completion, for an operation that is over at once and for one that is not.
  promise<> all;
  int calls = 0;
  long got = -1;
  for (int i = 0; i < 100; ++i) {
    upcxx::rput(long(me), there, operation_cx::as_promise(all));
    upcxx::rput(values.data(), there + 1, count,
                source_cx::as_blocking() | operation_cx::as_defer_promise(all));
  }
  upcxx::rput(long(me), there, operation_cx::as_lpc(upcxx::current_persona(), [&] { ++calls; }));
  upcxx::rget(there, operation_cx::as_lpc(upcxx::current_persona(), [&](long value) {
                got = value;
                ++calls;
              }));
  const future<> deferred = upcxx::rput(long(me), there, operation_cx::as_defer_future());
  REQUIRE(!deferred.is_ready());
  promise<long> value;
  upcxx::rget(there, operation_cx::as_promise(value));
  REQUIRE(value.finalize().wait() == me);
  deferred.wait();
  all.finalize().wait();
  while (calls < 2) upcxx::progress();
  REQUIRE(got == me);
  upcxx::discharge();

  if (there.is_local()) {
    promise<> counted;
    const long before = allocations;
    upcxx::rput(5L, there).wait();
    REQUIRE(upcxx::rget(there).wait() == 5 && *there.local() == 5);
    upcxx::rput(6L, there, operation_cx::as_promise(counted));
    const future<long> old = upcxx::rget(there);
    REQUIRE(upcxx::when_all(old, upcxx::rput(7L, there)).wait() == 6);
    REQUIRE(allocations == before);
  }
  upcxx::barrier();
  upcxx::delete_array(mine);
}

/// Its members are those whose memory can be loaded and stored.
void local_team() {
  const int me = upcxx::rank_me();
  upcxx::team& local = upcxx::local_team();
  REQUIRE(local[local.rank_me()] == me && upcxx::local_team_contains(me));
  const auto mine = upcxx::new_<int>(me);
  int members = 0;
  for (int rank = 0; rank < upcxx::rank_n(); ++rank) {
    const auto there = upcxx::broadcast(mine, rank).wait();
    const int member = local.from_world(rank, -1);
    REQUIRE(upcxx::local_team_contains(rank) == (member >= 0));
    REQUIRE(there.is_local() == (member >= 0));
    if (member < 0) continue;
    ++members;
    REQUIRE(local[member] == rank && *there.local() == rank);
    // Memory of another member has that one's pointer here, too.
    REQUIRE(upcxx::try_global_ptr(there.local()) == there);
    REQUIRE(upcxx::to_global_ptr(there.local()).where() == rank);
  }
  REQUIRE(members == local.rank_n());
  const global_ptr<int> none;
  REQUIRE(none.is_local() && none.local() == nullptr);
  REQUIRE(upcxx::try_global_ptr(static_cast<int*>(nullptr)).is_null());
  REQUIRE(upcxx::to_global_ptr(static_cast<int*>(nullptr)).is_null());
  const auto [index, count] = upcxx::local_team_position();
  REQUIRE(0 <= index && index < count && count <= upcxx::rank_n());
  upcxx::barrier();
  upcxx::delete_(mine);
}

void teams_and_collectives() {
  const int me = upcxx::rank_me();
  const int n = upcxx::rank_n();
  REQUIRE(upcxx::reduce_all(me, upcxx::op_fast_add).wait() == n * (n - 1) / 2);
  const int largest = upcxx::reduce_one(me, upcxx::op_fast_max, 0).wait();
  REQUIRE(me != 0 || largest == n - 1);
  std::vector<double> sums(3, me);
  upcxx::reduce_all(sums.data(), sums.data(), 3, [](double a, double b) { return a + b; }).wait();
  REQUIRE(sums[2] == n * (n - 1) / 2);
  int data[2] = {me, me + 1};
  upcxx::broadcast(data, 2, n - 1).wait();
  REQUIRE(data[0] == n - 1 && data[1] == n);

  upcxx::team half = upcxx::world().split(me % 2, -me);
  REQUIRE(half.rank_n() == (n + 1 - me % 2) / 2);
  REQUIRE(half[half.rank_me()] == me && half.from_world(me) == half.rank_me());
  REQUIRE(n == 1 || half.from_world((me + 1) % 2, -1) == -1);
  REQUIRE(upcxx::reduce_all(1, upcxx::op_fast_add, half).wait() == half.rank_n());
  const upcxx::team moved = std::move(half);
  REQUIRE(&moved.id().here() == &moved && !half.is_active());
  upcxx::barrier_async(moved).wait();
  half = upcxx::world().split(upcxx::team::color_none, 0);
  REQUIRE(!half.is_active());
  const_cast<upcxx::team&>(moved).destroy();

  local_team();
}

/// Another thread may hold the master persona, and calls run there.
void liberated_master() {
  upcxx::liberate_master_persona();
  REQUIRE(!upcxx::master_persona().active_with_caller());
  std::thread([] {
    const upcxx::persona_scope scope(upcxx::master_persona());
    const int peer = (upcxx::rank_me() + 1) % upcxx::rank_n();
    const auto is_master = [] { return upcxx::master_persona().active_with_caller(); };
    REQUIRE(upcxx::rpc(peer, is_master).wait());
    upcxx::barrier();
    upcxx::discharge();
    REQUIRE(!upcxx::progress_required());
  }).join();
  const upcxx::persona_scope scope(upcxx::master_persona());
  upcxx::barrier();
  upcxx::finalize();
}

/// They live until the process ends, which is after finalize().
upcxx::team static_team;
upcxx::dist_object<std::string> static_object;
upcxx::atomic_domain<int> static_domain;
upcxx::persona static_persona;
future<int> static_future;
promise<std::string> static_promise;
upcxx::gpu_heap_allocator static_allocator;

void static_objects() {
  static_team = upcxx::world().split(0, upcxx::rank_me());
  static_object = upcxx::dist_object<std::string>("text", static_team);
  static_domain = upcxx::atomic_domain<int>({upcxx::atomic_op::load});
  static_allocator = upcxx::make_gpu_allocator(1 << 16);
  static_future = static_persona.lpc([] { return 1; });
  const upcxx::persona_scope scope(static_persona);
  upcxx::progress();
  REQUIRE(static_future.wait() == 1 && upcxx::rank_n() == static_team.rank_n());
}

/// Ends the job with one line.
double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void waits_leave_the_processor() {
  const timespec pause{0, 200'000'000};
  upcxx::barrier();
  const double begin = seconds(CLOCK_MONOTONIC);
  const double used = seconds(CLOCK_THREAD_CPUTIME_ID);
  if (upcxx::rank_me() == 0) nanosleep(&pause, nullptr);
  upcxx::barrier();
  const double share =
      (seconds(CLOCK_THREAD_CPUTIME_ID) - used) / (seconds(CLOCK_MONOTONIC) - begin);
  // Under a seed emu looks more often. A wait that only polls uses all of it.
  REQUIRE(share < 0.5);
}

void misuse_at_once(const std::string& what) {
  if (what == "thread") {
    upcxx::promise<int> value;
    std::thread([&] { value.get_future().then([](int) {}); }).join();
  }
  if (what == "throw") {
    upcxx::rpc_ff(0, [] { throw std::runtime_error("of a callback"); });
  }
  if (what == "thrown") {
    upcxx::rpc(0, [] {}).then([] { throw std::runtime_error("of a callback"); });
  }
  if (what == "operation") {
    const auto number = upcxx::new_<int>(0);
    upcxx::atomic_domain<int>({upcxx::atomic_op::load}).add(number, 1, std::memory_order_relaxed);
  }
  if (what == "kind") {
    upcxx::static_kind_cast<upcxx::memory_kind::cuda_device>(
        global_ptr<int, upcxx::memory_kind::any>(upcxx::new_<int>(0)));
  }
  if (what == "unshared") upcxx::to_global_ptr(&upcxx::world());
  if (what == "destroyed") {
    upcxx::persona other;
    other.lpc_ff([] {});
  }
  if (what == "lost") {
    (new upcxx::persona)->lpc_ff([] {});
    upcxx::finalize();
    std::exit(1);
  }
}

/// No rank goes on: what each waits for is reported.
void hang() {
  if (upcxx::rank_me() == 0)
    upcxx::rpc(1, [] { return upcxx::promise<int>().get_future(); }).wait();
  if (upcxx::rank_me() == 1) (new upcxx::persona)->lpc([] {}).wait();
  upcxx::barrier();
}

/// Ends the job with one line.
void misuse(const std::string& what) {
  if (what == "hang") hang();
  misuse_at_once(what);
  upcxx::rpc_ff(
      upcxx::rank_me(),
      [](const std::string& call) {
        if (call == "wait") upcxx::rpc(0, [] {}).wait();
        if (call == "barrier") upcxx::barrier();
        if (call == "collective") {
          upcxx::broadcast(1, 0);
          std::exit(0);
        }
      },
      what);
  for (;;) upcxx::progress();
}

}  // namespace

int main(int argc, char** argv) {
  upcxx::init();
  if (argc > 1) misuse(argv[1]);
  upcxx::init();
  REQUIRE(upcxx::initialized() && upcxx::master_persona().active_with_caller());
  waits_leave_the_processor();
  heap();
  pointers();
  put_and_get();
  teams_and_collectives();
  static_objects();
  upcxx::finalize();
  upcxx::barrier();
  upcxx::finalize();
  REQUIRE(!upcxx::initialized());
  upcxx::init();
  liberated_master();
  return 0;
}
