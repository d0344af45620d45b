#include "api/start_process.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/client_mpi.h"
#include "base/env.h"
#include "base/error.h"
#include "base/error_environment.h"
#include "base/os_cpu.h"
#include "base/os_memory_limits.h"
#include "base/os_process_fence.h"
#include "base/os_signal.h"
#include "base/spin.h"
#include "core/client_notes.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/segment_fault.h"
#include "core/thread.h"
#include "core/waiting.h"
#include "observe/start.h"
#include "way/network_choice.h"
#include "way/network_report.h"
#include "way/pairs.h"

namespace gex {

bool suppress_singleton_warning = false;

namespace {

shm::Placement place_ranks(const job::Job& job) {
  const std::int64_t limit = env::integer(env::Variable::supernode_maxsize);
  if (limit < 0) fatal("GASNET_SUPERNODE_MAXSIZE=%ld: expected 0 (no limit) or more", long{limit});
  std::vector<std::uint32_t> hosts(job.size());
  for (std::uint32_t rank = 0; rank < job.size(); ++rank) hosts[rank] = job.host_of(rank);
  return {hosts, static_cast<std::uint32_t>(std::min<std::int64_t>(limit, job.size()))};
}

/// Lanes may take a sixteenth of limited memory, in bytes, and what teams share another.
std::uint64_t share_of_limits() {
  return std::min(os::file_size_limit().value_or(UINT64_MAX),
                  os::address_space_limit().value_or(UINT64_MAX)) /
         16;
}

std::uint32_t own_neighborhood_size() {
  return process().placement.neighborhood_of(gex_proc_.jobrank).size();
}

/// How many lanes this rank has threads for: the first, which all threads share, and one for each
/// processor that it may use and one more thread.
std::uint32_t wanted_lanes(const os::CoreShare& share) {
  constexpr std::uint32_t max = shm::max_lanes - 1;
  std::uint32_t own = std::clamp(share.count + 1, 2U, max);
  if (env::value(env::Variable::lanes)) {
    const std::int64_t wanted = env::integer(env::Variable::lanes);
    if (wanted < 0 || wanted > std::int64_t{max})
      fatal("GEX_LANES=%ld: expected 0 to %u", long{wanted}, max);
    own = static_cast<std::uint32_t>(wanted);
  }
  if (!process().threaded) return 1;
  std::uint32_t lanes = 1 + own;
  const std::uint64_t limit = share_of_limits();
  const std::uint32_t members = own_neighborhood_size();
  while (lanes > 1 &&
         shm::Neighborhood::control_layout(members, {lanes, shm::min_team_slots, 0}).control_bytes >
             limit)
    --lanes;
  return lanes;
}

/// Returns true if this rank has a progress thread: a job of one has no other rank to serve, and in
/// the other modes no thread but the client's may be inside the library.
bool has_progress_thread() {
  if (!env::boolean(env::Variable::progress_thread)) return false;
  const Process& self = process();
  if (!self.threaded && speaks_for_job())
    warn(
        "GEX_PROGRESS_THREAD=1: there is no progress thread, because this client was compiled for "
        "GASNET_%s; compile it for GASNET_PAR",
        mode_name(gex_proc_.mode));
  return self.threaded && self.job->size() > 1;
}

/// A rank's wish by a variable that has no default.
enum class Wish : std::uint32_t { none, no, yes };

Wish wish_of(env::Variable variable) {
  if (!env::value(variable)) return Wish::none;
  return env::boolean(variable) ? Wish::yes : Wish::no;
}

/// The ranks have found these out together, whatever the environment of each.
struct Agreed {
  shm::ControlCounts counts;
  bool requires_ways;  ///< a rank has GEX_REQUIRE
};

/// Counts the cores that the ranks of this host may use together. A rank that is bound sees only
/// its own; ranks bound to different ones do not crowd each other. Determines which ranks have
/// progress threads. Lanes are the most and slots of teams the fewest that any rank wants, so that
/// neighborhoods are laid out alike.
Agreed agree_on_counts() {
  struct Announced {
    os::CoreShare share;
    std::uint32_t processors;
    std::uint32_t progress_thread;
  };
  Process& self = process();
  job::Job& job = *self.job;
  const Announced mine{os::core_share(), os::cpu_count(), has_progress_thread() ? 1U : 0U};
  const job::Exchanged exchanged = job.exchange_on_host(std::as_bytes(std::span(&mine, 1)));
  const auto neighbors = exchanged.values<Announced>();
  std::vector<os::CoreShare> shares;
  for (const Announced& one : neighbors) shares.push_back(one.share);
  self.usable_cores = std::min(os::usable_cores(shares), neighbors.front().processors);
  self.crowded = own_host().size() > self.usable_cores;
  set_oversubscribed(self.crowded);
  if (std::ranges::any_of(neighbors, [](const Announced& one) { return one.progress_thread != 0; }))
    for (const Announced& one : neighbors)
      self.progress_threads.push_back(one.progress_thread != 0);
  // Before there are other threads, with which it takes long.
  os::enable_shared_fence();

  // The least of each: 0 where any rank has it, and the wish of the lowest rank that has one.
  constexpr std::uint64_t nothing = ~std::uint64_t{0};
  const Wish leaders = wish_of(env::Variable::coll_leaders);
  std::uint64_t least[] = {nothing - wanted_lanes(mine.share),
                           shm::TeamSlots::count_within(share_of_limits(), own_neighborhood_size()),
                           self.crowded ? 0U : 1U,
                           env::boolean(env::Variable::verbose) ? 0U : 1U,
                           env::value(env::Variable::require) ? 0U : 1U,
                           leaders == Wish::none
                               ? nothing
                               : std::uint64_t{job.rank()} << 1 | (leaders == Wish::yes ? 1U : 0U)};
  job.least(least);
  const auto [lanes_left, team_slots, no_crowded, no_verbose, no_require, leaders_wish] = least;
  self.any_crowded = no_crowded == 0;
  self.reports_pairs = no_verbose == 0;
  if (leaders_wish != nothing) self.leaders_in_collectives = (leaders_wish & 1) != 0;
  return {{static_cast<std::uint32_t>(nothing - lanes_left),
           static_cast<std::uint32_t>(std::min(team_slots, std::uint64_t{shm::max_team_slots})),
           job.size()},
          no_require == 0};
}

}  // namespace

void start_process(Deliver deliver, const CommandLine& line) {
  Process& self = process();
  // First, so that an error of all ranks is reported by one of them, for the job.
  self.job = &job::Job::join([&line] { return take_ranks(line); });
  find_client_mpi(/*forked=*/self.job->origin() == job::Origin::forked);
  watch_job();
  job::Job& job = *self.job;
  env::check_values();
  env::warn_unknown();
  follow_error_environment_in_signals();
  const ClientNotes notes = read_client_notes();
  name_network(notes.conduit);
  require_known_networks();

  gex_proc_.abi = GEX_ABI_VERSION_;
  // Callers that leave no record (Python, Fortran) may have any number of threads.
  gex_proc_.mode = notes.mode != 0 ? notes.mode : GEX_MODE_PAR_;
  gex_proc_.jobrank = job.rank();
  observe::start();
  self.threaded = gex_proc_.mode == GEX_MODE_PAR_;
  // An invalid limit of threads is refused now, not when a thread reaches it.
  static_cast<void>(max_threads());

  self.placement = place_ranks(job);
  self.own_host = self.placement.host_of(job.rank());
  const Agreed agreed = agree_on_counts();

  self.neighborhood = shm::Neighborhood::form(self.placement, agreed.counts);
  explain_segment_faults();
  attach_network(deliver);
  set_up_waiting();
  report_network_at_exit();
  observe::name_network(self.conduit_name.c_str());
  gex_proc_.jobsize = job.size();
  if (agreed.requires_ways) require_ways();
  if (speaks_for_job())
    inform("%u ranks, %u of them in rank 0's neighborhood (%s), network %s (%s)", job.size(),
           self.neighborhood.size(), self.neighborhood.size_reason().c_str(),
           self.conduit_name.c_str(), self.conduit_reason.c_str());
  if (speaks_for_job() && !notes.smp_object.empty() && self.neighborhood.size() < job.size())
    warn(
        "%s was compiled for the network smp (GASNET_CONDUIT_SMP), on which all ranks share "
        "memory, but "
        "the ranks of this job do not (network %s): code that assumes it may give wrong results; "
        "compile for another network, or run on one host without GASNET_SUPERNODE_MAXSIZE",
        notes.smp_object.c_str(), self.conduit_name.c_str());
  if (job.origin() == job::Origin::singleton && !suppress_singleton_warning)
    warn("%s: this is a job of one rank (for N ranks: gexrun -n N, or GASNET_PSHM_NODES=N)",
         job.nested() ? "this program was started by a process of another job"
                      : "no launcher, and GASNET_PSHM_NODES is not set");
}

}  // namespace gex
