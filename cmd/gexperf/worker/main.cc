// A worker of gexperf: a rank of the job that gexperf starts to make one measurement. It is
// compiled once for each threading mode, because a program has only one.
//
//   gexperf-seq measure NAME ROUNDS     subject and limit
//   gexperf-seq measure NAME ROUNDS MODEL ALONE INTERVAL UNDER_WAY TOGETHER
//                                       the same over emu, which pretends to be MODEL and so takes
//                                       as long as the rest says (emu_limit.h)
//   gexperf-seq limit NAME ROUNDS       the limit alone
//   gexperf-seq attach                  says when the attach has ended, and what memory the rank
//                                       has: "attached", nanoseconds of the monotonic clock, KiB

#include <time.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "machine_limits.h"
#include "measurements.h"
#include "network.h"

namespace gexperf {

namespace {

constexpr NamedMeasurement measurements[] = {
    {"put.8.blocking", put_blocking},
    {"put.8.rate", put_rate},
    {"put.8.nbi", put_nbi},
    {"put.8.nb", put_nb},
    {"put.1048576", put_large},
    {"get.8.blocking", get_blocking},
    {"atomic.fadd.8", atomic_fetch_add},
    {"atomic.fadd.8.nbi", atomic_fetch_add_nbi},
    {"atomic.add.8", atomic_add},
    {"atomic.fadd.dbl", atomic_fetch_add_double},
    {"atomic.fadd.8.variable_op", atomic_fetch_add_variable},
    {"atomic.fadd.8.variable_op.nbi", atomic_fetch_add_variable_nbi},
    {"atomic.fadd.8.variable_op.wait", atomic_fetch_add_variable_each_waited_for},
    {"atomic.add.8.variable_op", atomic_add_variable},
    {"atomic.fadd.same_word", atomic_fetch_add_same_word},
    {"atomic.fadd.hot_spot", atomic_fetch_add_hot_spot},
    {"vis.strided.3", strided_put_3},
    {"vis.strided.8", strided_put_8},
    {"vis.strided.32", strided_put_32},
    {"am.short.rtt", short_round_trip},
    {"am.short.self", short_to_self},
    {"am.medium.64.self", medium_64_to_self},
    {"am.short.flood", short_flood},
    {"am.short.flood.both", short_flood_both_ways},
    {"am.short.flood.2", short_flood_two_threads},
    {"am.medium.8.rtt", medium_8_round_trip},
    {"am.medium.64.rtt", medium_64_round_trip},
    {"am.np.65536", negotiated_medium},
    {"am.immediate.failed", failed_immediate},
    {"word", word_bounce},
    {"barrier.2", barrier_of_two},
    {"barrier.many", barrier_of_many},
    {"coll.broadcast.8", broadcast_8},
    {"coll.reduce_to_all.8", reduce_to_all_8},
    {"poll.idle", idle_poll},
    {"event.nb", event_allocate_and_test},
};

/// Of this process: its own pages, and its share of those that it has in common with others.
long memory_kib() {
  long kib = 0;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (word == "Pss:") file >> kib;
  return kib;
}

void say_attached(const Job& job) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (job.rank() != 0) return;
  std::printf("attached %" PRId64 " %ld\n",
              static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec, memory_kib());
  std::fflush(stdout);
}

void measure(const Job& job, std::string_view name, unsigned rounds, bool limit_alone,
             const EmuTime& by_model) {
  if (!limit_alone && measure_network(job, name, rounds, by_model)) return;
  for (const NamedMeasurement& measurement : measurements) {
    if (measurement.name != name) continue;
    if (job.size() < 2) job.fail("a measurement needs two ranks");
    MachineLimits limits(job);
    measurement.take({job, limits, rounds, limit_alone});
    return;
  }
  job.fail("no measurement is called '" + std::string(name) + "'");
}

/// Where the words about emu are, MODEL and what follows it, and how many words there are without.
constexpr int about_emu = 4;

int words_to_measure(std::string_view name) {
  return is_over_emu(name) ? about_emu + 5 : about_emu;
}

EmuTime read_emu_time(char** words) {
  return {.alone_ns = std::strtod(words[0], nullptr),
          .interval_ns = std::strtod(words[1], nullptr),
          .under_way = std::strtoull(words[2], nullptr, 10),
          .together = std::strtoull(words[3], nullptr, 10)};
}

}  // namespace

}  // namespace gexperf

int main(int argc, char** argv) {
  const bool measures = argc > 2 && argc == gexperf::words_to_measure(argv[2]);
  const bool over_network = measures && gexperf::is_over_network(argv[2]);
  const bool over_emu = measures && gexperf::is_over_emu(argv[2]);
  if (over_network) gexperf::leave_neighborhood(over_emu ? argv[gexperf::about_emu] : nullptr);
  gexperf::Job job(&argc, &argv);
  const std::string_view what = argc > 1 ? argv[1] : "";
  gexperf::register_handlers(job);
  gexperf::register_network_handlers(job);
  job.attach(what == "attach" ? GASNET_PAGESIZE : gexperf::segment_bytes, !over_network);
  if (what == "attach" && argc == 2) {
    gexperf::say_attached(job);
  } else if ((what == "measure" || what == "limit") && measures) {
    gexperf::measure(
        job, argv[2], static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)), what == "limit",
        over_emu ? gexperf::read_emu_time(argv + gexperf::about_emu + 1) : gexperf::EmuTime{});
  } else {
    job.fail("gexperf starts this program; it is of no use alone");
  }
  job.barrier();
  return 0;
}
