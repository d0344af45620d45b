// Tests of extras/, between all ranks. Prints nothing and ends with 0 if all is right.
#include <string>
#include <upcxx/extras/aggregator.hpp>
#include <upcxx/extras/alltoall.hpp>
#include <upcxx/extras/bytes.hpp>
#include <upcxx/extras/dist_array.hpp>
#include <upcxx/extras/gather.hpp>
#include <upcxx/extras/hash_map.hpp>
#include <upcxx/extras/quiescence.hpp>
#include <upcxx/extras/scan.hpp>
#include <upcxx/extras/scatter.hpp>
#include <upcxx/extras/wait_for.hpp>
#include <upcxx/extras/work_queue.hpp>

namespace {

using namespace upcxx::extras;

#define REQUIRE(test) UPCXX_ASSERT_ALWAYS((test), "failed: " << #test)

int me() {
  return upcxx::rank_me();
}
int n() {
  return upcxx::rank_n();
}

void collectives() {
  std::vector<std::string> names;
  std::string up_to_me;
  for (int rank = 0; rank < n(); ++rank) {
    names.push_back("rank " + std::to_string(rank));
    if (rank <= me()) up_to_me += names.back();
  }
  const std::string mine = names[std::size_t(me())];
  // All are under way at once, and values have any type.
  const auto gathered = gather(mine, n() - 1);
  const auto everywhere = gather_all(mine);
  const auto scattered = scatter(me() == 0 ? names : std::vector<std::string>(), 0);
  std::vector<std::vector<int>> columns;
  for (int rank = 0; rank < n(); ++rank) columns.emplace_back(std::size_t(rank), me());
  const auto turned = alltoall(columns);
  const auto scanned = scan(mine, [](const std::string& a, const std::string& b) { return a + b; });
  REQUIRE(gathered.wait() == (me() == n() - 1 ? names : std::vector<std::string>()));
  REQUIRE(everywhere.wait() == names);
  REQUIRE(scattered.wait() == mine);
  const std::vector<std::vector<int>> rows = turned.wait();
  for (int rank = 0; rank < n(); ++rank) {
    REQUIRE(rows[std::size_t(rank)] == std::vector<int>(std::size_t(me()), rank));
  }
  REQUIRE(scanned.wait() == up_to_me);

  upcxx::team half = upcxx::world().split(me() % 2, -me());
  REQUIRE(gather_all(me(), half).wait()[std::size_t(half.rank_me())] == me());
  REQUIRE(scan(1, std::plus<int>(), half).wait() == half.rank_me() + 1);
  half.destroy();
}

long visits = 0;

/// A tree of calls, from rank to rank.
struct Visit {
  upcxx::dist_id<quiescence*> counter;
  void operator()(int depth) const {
    ++visits;
    if (depth == 0) return;
    for (int child = 1; child <= 2; ++child) {
      (*counter.here())->call((me() + child) % n(), *this, depth - 1);
    }
  }
};

void quiet() {
  quiescence calls;
  upcxx::dist_object<quiescence*> pointer(&calls);
  calls.call((me() + 1) % n(), Visit{pointer.id()}, 6);
  calls.wait();
  // No further progress is made before the sum: every visit has been made.
  const long all = upcxx::reduce_all(visits, upcxx::op_fast_add).wait();
  REQUIRE(all == n() * 127L);
  calls.call(
      me(),
      [](int) -> upcxx::future<> {
        co_await upcxx::rpc((me() + 1) % n(), [] {});
        visits = 0;
      },
      0);
  calls.wait();
  REQUIRE(visits == 0);
}

long sum_of_items = 0;

void aggregation() {
  aggregator<int, void (*)(int)> items([](int item) { sum_of_items += item; }, 16);
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < 100; ++i) items.push(i % n(), i);
    items.flush();
    REQUIRE(upcxx::reduce_all(sum_of_items, upcxx::op_fast_add).wait() == round * n() * 4950L);
  }
}

void map() {
  hash_map<std::string, int> ages;
  upcxx::future<> done = upcxx::make_future();
  for (int i = 0; i < 50; ++i) {
    done = upcxx::when_all(done, ages.insert(std::to_string(n() * i + me()), i));
  }
  done.wait();
  upcxx::barrier();
  const std::size_t entries = upcxx::reduce_all(ages.local().size(), upcxx::op_fast_add).wait();
  REQUIRE(entries == std::size_t(50 * n()));
  REQUIRE(n() == 1 || ages.local().size() < entries);
  REQUIRE(ages.find(std::to_string(49 * n())).wait() == 49);
  REQUIRE(!ages.find("none").wait());
  upcxx::barrier();
  ages.update(
          "all", [](int& value, int more) { return value += more; }, 2)
      .wait();
  upcxx::barrier();
  REQUIRE(ages.find("all").wait() == 2 * n());
  upcxx::barrier();
  const int erased = ages.erase("all").wait() ? 1 : 0;
  REQUIRE(upcxx::reduce_all(erased, upcxx::op_fast_add).wait() == 1);
}

void array() {
  dist_array<int> numbers(10);
  for (std::size_t i = std::size_t(me()); i < numbers.size(); i += std::size_t(n())) {
    upcxx::rput(int(i), numbers[i]).wait();
  }
  upcxx::barrier();
  for (std::size_t i = 0; i < numbers.local_size(); ++i) {
    REQUIRE(numbers.local()[i] == int(numbers.local_begin() + i));
  }
  const std::size_t all = upcxx::reduce_all(numbers.local_size(), upcxx::op_fast_add).wait();
  REQUIRE(all == 10 && upcxx::rget(numbers[7]).wait() == 7);
  upcxx::barrier();
}

void queue() {
  work_queue<int> tasks;
  long leaves = 0;
  long run = 0;
  if (me() == n() - 1) tasks.push(12);
  tasks.run([&](int depth) {
    ++run;
    if (depth == 0) {
      ++leaves;
    } else {
      tasks.push(depth - 1);
      tasks.push(depth - 1);
    }
  });
  REQUIRE(upcxx::reduce_all(leaves, upcxx::op_fast_add).wait() == 4096);
  REQUIRE(upcxx::reduce_all(run, upcxx::op_fast_add).wait() == 8191);
  tasks.run([](int) { REQUIRE(false); });
  upcxx::barrier();
}

void limited() {
  using namespace std::chrono_literals;
  upcxx::promise<int> given;
  const upcxx::future<int> awaited = given.get_future();
  REQUIRE(!wait_for(awaited, 1ms));
  // Progress is made whatever the limit, and an operation goes on behind it.
  upcxx::master_persona().lpc_ff([&] { given.fulfill_result(7); });
  REQUIRE(wait_for(awaited, 0s) && awaited.result() == 7);
  const upcxx::future<int> answer = upcxx::rpc((me() + 1) % n(), [] { return me(); });
  while (!wait_for(answer, 1us)) {
  }
  REQUIRE(answer.result() == (me() + 1) % n());
  upcxx::barrier();
}

}  // namespace

int main() {
  upcxx::init();
  REQUIRE(from_bytes<std::string>(to_bytes(std::string("text"))) == "text");
  collectives();
  quiet();
  aggregation();
  map();
  array();
  queue();
  limited();
  upcxx::finalize();
  return 0;
}
