// Insert rate, random updates and tree search by upcxx/extras.
//
//     upcxx-run -n RANKS extras_upcxx [OPERATIONS]
#include <upcxx/extras/aggregator.hpp>
#include <upcxx/extras/dist_array.hpp>
#include <upcxx/extras/hash_map.hpp>
#include <upcxx/extras/work_queue.hpp>

#include "workload.h"

namespace {

using extras::random_number;
using Map = upcxx::extras::hash_map<std::uint64_t, std::uint64_t>;

long sum(long value) {
  return upcxx::reduce_all(value, upcxx::op_fast_add).wait();
}

/// Seconds from the first rank's begin to the last one's end.
template <class Body>
double timed(Body&& body) {
  upcxx::barrier();
  const double begin = extras::seconds_now();
  body();
  upcxx::barrier();
  return extras::seconds_now() - begin;
}

/// Each key is there with its value, and no other is.
bool is_right(Map& map, long count) {
  long wrong = 0;
  for (const auto& [key, value] : map.local()) {
    if (value != extras::mix(key)) ++wrong;
  }
  return sum(wrong) == 0 && sum(long(map.local().size())) == count * upcxx::rank_n();
}

/// As many keys are on each rank, which the variant in MPI has places for as well.
void reserve(Map& map, long count) {
  map.local().reserve(std::size_t(count));
}

void insert_all(Map& map, long count) {
  upcxx::promise<> all;
  for (long i = 0; i < count; ++i) {
    const std::uint64_t key = random_number(upcxx::rank_me(), i);
    all.require_anonymous(1);
    map.insert(key, extras::mix(key)).then([all] { all.fulfill_anonymous(1); });
    if (i % 16 == 0) upcxx::progress();
  }
  all.finalize().wait();
}
bool insert_one_by_one(long count) {
  Map map;
  Map first;
  reserve(map, count);
  reserve(first, count);
  // Afterwards the memory for calls is there.
  timed([&] { insert_all(first, count); });
  const double seconds = timed([&] { insert_all(map, count); });
  return extras::report(upcxx::rank_me(), "hash map, insert", double(count) * upcxx::rank_n(),
                        seconds, is_right(map, count));
}

bool insert_aggregated(long count) {
  Map map;
  reserve(map, count);
  upcxx::dist_object<Map*> named(&map);
  const auto id = named.id();
  const auto insert = [id](std::uint64_t key) {
    (*id.here())->local().insert_or_assign(key, extras::mix(key));
  };
  upcxx::extras::aggregator<std::uint64_t, decltype(insert)> inserts(insert);
  const double seconds = timed([&] {
    for (long i = 0; i < count; ++i) {
      const std::uint64_t key = random_number(upcxx::rank_me(), i);
      inserts.push(map.owner(key), key);
    }
    inserts.flush();
  });
  return extras::report(upcxx::rank_me(), "hash map, insert by aggregator",
                        double(count) * upcxx::rank_n(), seconds, is_right(map, count));
}

/// Random updates: a table of as many words as there are operations on all ranks. Done twice, they
/// cancel out.
template <class Pass>
bool update_twice(const char* name, long count, upcxx::extras::dist_array<std::uint64_t>& table,
                  Pass&& pass) {
  std::fill_n(table.local(), table.local_size(), 0);
  const double seconds = timed(pass);
  long set = 0;
  for (std::size_t i = 0; i < table.local_size(); ++i) set += table.local()[i] != 0;
  const bool is_set = sum(set) > 0;
  timed(pass);
  long wrong = 0;
  for (std::size_t i = 0; i < table.local_size(); ++i) wrong += table.local()[i] != 0;
  return extras::report(upcxx::rank_me(), name, double(count) * upcxx::rank_n(), seconds,
                        is_set && sum(wrong) == 0);
}

bool update(long count) {
  using Table = upcxx::extras::dist_array<std::uint64_t>;
  Table table(std::size_t(count) * std::size_t(upcxx::rank_n()));
  upcxx::atomic_domain<std::uint64_t> domain({upcxx::atomic_op::bit_xor});
  const bool atomics = update_twice("random updates, atomics", count, table, [&] {
    upcxx::promise<> all;
    for (long i = 0; i < count; ++i) {
      const std::uint64_t number = random_number(upcxx::rank_me(), i);
      domain.bit_xor(table[number % table.size()], number, std::memory_order_relaxed,
                     upcxx::operation_cx::as_promise(all));
      if (i % 256 == 0) upcxx::progress();
    }
    all.finalize().wait();
  });
  upcxx::dist_object<Table*> named(&table);
  const auto id = named.id();
  const auto apply = [id](std::uint64_t number) {
    Table& here = **id.here();
    here.local()[number % here.size() - here.local_begin()] ^= number;
  };
  upcxx::extras::aggregator<std::uint64_t, decltype(apply)> updates(apply);
  const std::size_t block =
      (table.size() + std::size_t(upcxx::rank_n()) - 1) / std::size_t(upcxx::rank_n());
  const bool aggregated = update_twice("random updates, aggregator", count, table, [&] {
    for (long i = 0; i < count; ++i) {
      const std::uint64_t number = random_number(upcxx::rank_me(), i);
      updates.push(upcxx::intrank_t(number % table.size() / block), number);
    }
    updates.flush();
  });
  domain.destroy();
  return atomics && aggregated;
}

bool search() {
  upcxx::extras::work_queue<std::uint64_t> queue;
  if (upcxx::rank_me() == 0) queue.push(extras::tree::root);
  long here = 0;
  const double seconds = timed([&] {
    queue.run([&](std::uint64_t node) {
      ++here;
      for (int i = 0; i < extras::tree::children(node); ++i) {
        queue.push(extras::tree::child(node, i));
      }
    });
  });
  const long all = sum(here);
  return extras::report(upcxx::rank_me(), "tree search, work queue", double(all), seconds,
                        all == extras::tree::nodes());
}

}  // namespace

int main(int argc, char** argv) {
  upcxx::init();
  const long count = extras::operations(argc, argv);
  // Each runs, also behind one that is wrong.
  bool is_right = insert_one_by_one(count);
  is_right &= insert_aggregated(count);
  is_right &= update(count);
  is_right &= search();
  upcxx::finalize();
  return is_right ? 0 : 1;
}
