#pragma once
// The measurements that a worker can make. Each takes its samples with `compare`, and is
// collective.

#include <cstddef>
#include <string_view>

#include "machine_limits.h"
#include "sampling.h"

namespace gexperf {

struct NamedMeasurement {
  std::string_view name;
  void (*take)(const Context& context);
  unsigned options = 0;                 ///< how many it has
  std::size_t segment = segment_bytes;  ///< bytes that it needs of every rank
};

/// Gives the job's endpoint the handlers of messages.cc. Before the attach.
void register_handlers(const Job& job);

// rma.cc
void put_blocking(const Context& context);
void put_rate(const Context& context);
void put_nbi(const Context& context);
void put_nb(const Context& context);
void put_large(const Context& context);
void get_blocking(const Context& context);

// atomic.cc
void atomic_fetch_add(const Context& context);
void atomic_fetch_add_nbi(const Context& context);
void atomic_add(const Context& context);
void atomic_fetch_add_double(const Context& context);
void atomic_fetch_add_variable(const Context& context);
void atomic_fetch_add_variable_nbi(const Context& context);
void atomic_fetch_add_variable_each_waited_for(const Context& context);
void atomic_add_variable(const Context& context);
void atomic_fetch_add_same_word(const Context& context);
void atomic_fetch_add_hot_spot(const Context& context);

// vis.cc
void strided_put_3(const Context& context);
void strided_put_8(const Context& context);
void strided_put_32(const Context& context);

// messages.cc
void short_round_trip(const Context& context);
void medium_8_round_trip(const Context& context);
void medium_64_round_trip(const Context& context);
void negotiated_medium(const Context& context);
void short_to_self(const Context& context);
void medium_64_to_self(const Context& context);
void short_flood(const Context& context);
void short_flood_both_ways(const Context& context);
void short_flood_both_ways_with_work(const Context& context);
void short_flood_both_ways_with_stores(const Context& context);
void short_flood_to_both(const Context& context);
void short_flood_two_threads(const Context& context);
void failed_immediate(const Context& context);

// coll.cc
void broadcast_8(const Context& context);
void reduce_to_all_8(const Context& context);

// synchronisation.cc
void word_bounce(const Context& context);
void barrier_of_two(const Context& context);
void barrier_of_many(const Context& context);
void idle_poll(const Context& context);
void event_allocate_and_test(const Context& context);

}  // namespace gexperf
