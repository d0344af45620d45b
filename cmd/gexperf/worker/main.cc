// A worker of gexperf: a rank of the job that gexperf starts to make one measurement. It is
// compiled once for each threading mode, because a program has only one.
//
//   gexperf-seq measure NAME ROUNDS     subject and limit
//   gexperf-seq measure NAME ROUNDS MODEL ALONE INTERVAL UNDER_WAY TOGETHER
//                                       both over emu, which pretends to be MODEL and so takes
//                                       as long as the rest gives (emu_limit.h)
//   gexperf-seq measure NAME ROUNDS OPTION...
//                                       subject and limit of a measurement that has options
//   gexperf-seq subject NAME ROUNDS [OPTION...]
//                                       the subject alone
//   gexperf-seq limit NAME ROUNDS [OPTION...]
//                                       the limit alone
//   gexperf-seq busy NAME MILLISECONDS [apart]
//                                       prints what an operation took on average; apart: the ranks
//                                       share no memory
//   gexperf-seq cuda                    prints four lines about CUDA's device 0, in no job: why
//   there
//                                       is none, its name, the driver, "real" or "fake"
//   gexperf-seq attach                  prints when the attach has ended, and the memory of the
//                                       rank: "attached", nanoseconds of the monotonic clock, KiB

#include <time.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bare_cuda.h"
#include "busy.h"
#include "cores.h"
#include "cuda.h"
#include "machine_limits.h"
#include "measurements.h"
#include "network.h"
#include "threads.h"

namespace gexperf {

namespace {

/// Memory that a measurement needs in every rank's segment, for as many ranks or threads as there
/// can be.
constexpr std::size_t thread_bytes = segment_bytes + (4U << 20);
constexpr std::size_t core_bytes = segment_bytes + (2U << 20);
constexpr std::size_t collective_bytes = core_bytes + 2 * (16U << 20);

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
    {"am.short.flood.both.work", short_flood_both_ways_with_work},
    {"am.short.flood.both.stores", short_flood_both_ways_with_stores},
    {"am.short.flood.both.self", short_flood_to_both},
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
    {"threads.flood", threads_flood, 2, thread_bytes},
    {"threads.rtt", threads_round_trip, 2, thread_bytes},
    {"threads.put", threads_put, 2, thread_bytes},
    {"threads.fadd", threads_fetch_add, 2, thread_bytes},
    {"threads.mixed", threads_mixed, 2, thread_bytes},
    {"cores.barrier", cores_barrier, 0, core_bytes},
    {"cores.to_one", cores_to_one, 0, core_bytes},
    {"cores.to_all", cores_to_all, 0, core_bytes},
    {"cores.hot_spot", cores_hot_spot, 0, core_bytes},
    {"cores.broadcast", cores_broadcast, 2, collective_bytes},
    {"cores.reduce_to_all", cores_reduce_to_all, 2, collective_bytes},
    {"cuda.put", cuda_put, 2, cuda_host_bytes},
    {"cuda.get", cuda_get, 2, cuda_host_bytes},
    {"cuda.put.flood", cuda_flood_of_puts, 2, cuda_host_bytes},
    {"cuda.get.flood", cuda_flood_of_gets, 2, cuda_host_bytes},
    {"cuda.put.strided", cuda_strided_put, 2, cuda_host_bytes},
    {"cuda.get.strided", cuda_strided_get, 2, cuda_host_bytes},
    {"cuda.first_put", cuda_first_put},
    {"cuda.put.kernel", cuda_kernel_put, 0, cuda_host_bytes},
    {"cuda.poll.idle", cuda_idle_poll},
};

const NamedMeasurement* find_measurement(std::string_view name) {
  for (const NamedMeasurement& measurement : measurements)
    if (measurement.name == name) return &measurement;
  return nullptr;
}

/// The memory of this process: its own pages, and its share of those that it has in common with
/// others.
long memory_kib() {
  long kib = 0;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (word == "Pss:") file >> kib;
  return kib;
}

void print_attached(const Job& job) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (job.rank() != 0) return;
  std::printf("attached %" PRId64 " %ld\n",
              static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec, memory_kib());
  std::fflush(stdout);
}

void measure(const Job& job, std::string_view name, unsigned rounds, Wanted wanted,
             std::vector<std::string_view> options, const EmuTime& by_model) {
  if (wanted != Wanted::limit && measure_network(job, name, rounds, by_model)) return;
  const NamedMeasurement* const measurement = find_measurement(name);
  if (measurement == nullptr) job.fail("no measurement is called '" + std::string(name) + "'");
  if (options.size() != measurement->options)
    job.fail("'" + std::string(name) + "' has " + std::to_string(measurement->options) +
             " options, not " + std::to_string(options.size()));
  if (job.size() < 2) job.fail("a measurement needs two ranks");
  MachineLimits limits(job);
  measurement->take({job, limits, rounds, wanted, std::move(options)});
}

/// Where the options begin. Over emu: MODEL, and four more that are its times.
constexpr int first_option = 4;
constexpr int emu_options = 5;

std::optional<Wanted> parse_wanted(std::string_view word) {
  if (word == "measure") return Wanted::subject_and_limit;
  if (word == "subject") return Wanted::subject;
  if (word == "limit") return Wanted::limit;
  return std::nullopt;
}

int print_cuda() {
  const CudaFacts facts = find_cuda();
  std::printf("%s\n%s\n%s\n%s\n", facts.trouble.c_str(), facts.device.c_str(), facts.driver.c_str(),
              facts.is_fake ? "fake" : "real");
  return 0;
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
  using namespace gexperf;
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "cuda") return print_cuda();
  const std::optional<Wanted> wanted = parse_wanted(what);
  const bool measures = wanted && argc >= first_option &&
                        (!is_over_emu(argv[2]) || argc == first_option + emu_options);
  const std::string_view name = measures ? argv[2] : "";
  const bool over_network = is_over_network(name);
  const bool over_emu = is_over_emu(name);
  const bool is_busy = what == "busy" && (argc == 4 || argc == 5);
  const bool is_apart = is_busy && argc == 5;
  if (over_network || is_apart) leave_neighborhood(over_emu ? argv[first_option] : nullptr);
  Job job(&argc, &argv);
  register_handlers(job);
  register_network_handlers(job);
  register_thread_handlers(job);
  register_core_handlers(job);
  const NamedMeasurement* const measurement = find_measurement(name);
  job.attach(what == "attach"         ? GASNET_PAGESIZE
             : measurement != nullptr ? measurement->segment
                                      : segment_bytes,
             !over_network && !is_apart);
  if (what == "attach" && argc == 2) {
    print_attached(job);
  } else if (is_busy) {
    repeat_for(job, argv[2], std::strtod(argv[3], nullptr));
  } else if (measures) {
    measure(job, name, static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)), *wanted,
            {argv + first_option, argv + (over_emu ? first_option : argc)},
            over_emu ? read_emu_time(argv + first_option + 1) : EmuTime{});
  } else {
    job.fail("gexperf starts this program; it is of no use alone");
  }
  job.barrier();
  return 0;
}
