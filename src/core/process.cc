#include "core/process.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "base/env.h"
#include "base/error.h"
#include "base/os_cpu.h"
#include "base/os_file.h"
#include "base/os_signal.h"
#include "base/spin.h"
#include "core/client_notes.h"
#include "core/in_call.h"
#include "core/progress.h"
#include "core/thread.h"
#include "net/registry.h"

struct gex_Proc_ gex_proc_ = {};

namespace gex {

Immortal<Process> the_process;
std::atomic<bool> verbose_errors{true};
bool lone_rank_is_meant = false;

const char* mode_name(std::uint32_t mode) noexcept {
  switch (mode) {
    case GEX_MODE_SEQ_:
      return "SEQ";
    case GEX_MODE_PARSYNC_:
      return "PARSYNC";
    case GEX_MODE_PAR_:
      return "PAR";
    default:
      return "(unknown mode)";
  }
}

namespace {

// Host functions for conduits.
void host_exchange(const void* mine, std::size_t bytes, void* all) {
  boot::Job& job = *process().job;
  job.exchange(std::span(static_cast<const std::byte*>(mine), bytes),
               std::span(static_cast<std::byte*>(all), bytes * job.size()));
}
int host_share_descriptor(int descriptor, std::uint32_t owner) {
  return process().job->share_descriptor(descriptor, own_host(), owner);
}
net::SegmentFile host_segment_file(std::uint32_t rank) {
  const Process& self = process();
  const shm::Neighborhood& own = self.neighborhood;
  const boot::RankSet& ranks = self.placement.neighborhood_of(rank);
  os::FileDescriptor given;
  if (self.job->rank() == ranks.front()) {
    given = own.duplicate_file();
    if (!given) fatal_system("a second descriptor of the neighborhood's shared memory", errno);
  }
  net::SegmentFile file{};
  file.descriptor = host_share_descriptor(given.release(), ranks.front());
  file.offset = shm::Neighborhood::control_layout(ranks.size()).control_bytes;
  file.size = os::file_size(file.descriptor) - file.offset;
  file.ranks = ranks.begin();
  file.count = ranks.size();
  return file;
}
int host_segment_place(const void* address, std::uint64_t* offset) {
  const shm::Neighborhood& own = process().neighborhood;
  const std::optional<std::uint64_t> in_own_part = own.segment_offset(address);
  if (!in_own_part) return 1;
  *offset = own.file_offset_of(own.local_index()) - own.file_offset_of(0) + *in_own_part;
  return 0;
}
std::uint32_t host_of(std::uint32_t rank) {
  return process().job->host_of(rank);
}
env::Variable variable_of_table(const char* name) {
  const auto variable = env::find(name);
  if (!variable) fatal("a conduit asked for the variable %s, which is not in the table", name);
  return *variable;
}
std::int64_t host_env_integer(const char* name) {
  return env::integer(variable_of_table(name));
}
const char* host_env_text(const char* name) {
  return env::raw(variable_of_table(name));
}
void host_complete(void* target) {
  complete(static_cast<CompletionTarget>(target));
}
void host_fatal(const char* text) {
  fatal("%s", text);
}
void host_lost_peer(const char* text) {
  process().job->follow_loss();
  fatal("%s", text);
}
void host_warn(const char* text) {
  warn("%s", text);
}

net::Host host{.version = net::interface_version,
               .rank = 0,
               .size = 0,
               .threaded = 0,
               .env_integer = host_env_integer,
               .env_text = host_env_text};

void choose_conduit(const std::string& label) {
  Process& self = process();
  const std::string wanted = env::text(env::Variable::conduit);
  if (!wanted.empty()) {
    self.conduit_name = wanted;
    self.conduit_reason = "GEX_CONDUIT";
  } else if (!label.empty() && label != "smp") {
    self.conduit_name = label;
    self.conduit_reason = "what the client was compiled for";
  } else {
    self.conduit_name = "smp";
    self.conduit_reason = label.empty() ? "default" : "what the client was compiled for";
  }
  if (self.conduit_name != "smp") self.conduit = net::find(self.conduit_name);
}

/// A number that tells this job from others, drawn by rank 0.
std::uint64_t draw_cookie(boot::Job& job) {
  std::uint64_t mine = 0;
  if (job.rank() == 0 && getrandom(&mine, sizeof mine, 0) != sizeof mine)
    fatal_system("cannot draw the job's cookie", errno);
  std::vector<std::uint64_t> everyones(job.size());
  job.exchange(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(everyones)));
  return everyones[0];
}

void attach_conduit(void (*deliver)(std::uint32_t, net::Channel, const void*, std::size_t)) {
  Process& self = process();
  boot::Job& job = *self.job;
  if (self.conduit == nullptr) {
    if (self.neighborhood.size() < job.size())
      fatal(
          "conduit smp has no network, but %u of %u processes are outside this one's memory (%s); "
          "choose a network with GEX_CONDUIT",
          job.size() - self.neighborhood.size(), job.size(),
          self.neighborhood.size_reason().c_str());
    return;
  }
  host = {.version = net::interface_version,
          .rank = job.rank(),
          .size = job.size(),
          .threaded = self.threaded ? 1U : 0U,
          .exchange = host_exchange,
          .share_descriptor = host_share_descriptor,
          .segment_file = host_segment_file,
          .segment_place = host_segment_place,
          .host_of = host_of,
          .env_integer = host_env_integer,
          .env_text = host_env_text,
          .cookie = draw_cookie(job),
          .deliver = deliver,
          .complete = host_complete,
          .fatal = host_fatal,
          .lost_peer = host_lost_peer,
          .warn = host_warn};
  const os::KeptSignalHandling kept;
  if (self.conduit->attach(&host, &self.network) != 0)
    fatal("conduit %s cannot be used here", self.conduit->name);
  if (self.network.max_message < 1024 || self.network.reply_depth < 1)
    fatal("conduit %s: messages of %zu bytes and %u replies a peer are below the minimum",
          self.conduit->name, self.network.max_message, self.network.reply_depth);
  if (self.conduit->put != nullptr && self.network.max_transfer < 1)
    fatal("conduit %s: put and get, but max_transfer is 0", self.conduit->name);
}

shm::Placement place_ranks(const boot::Job& job) {
  const std::int64_t limit = env::integer(env::Variable::supernode_maxsize);
  if (limit < 0) fatal("GASNET_SUPERNODE_MAXSIZE=%ld: expected 0 (no limit) or more", long{limit});
  std::vector<std::uint32_t> hosts(job.size());
  for (std::uint32_t rank = 0; rank < job.size(); ++rank) hosts[rank] = job.host_of(rank);
  return {hosts, static_cast<std::uint32_t>(std::min<std::int64_t>(limit, job.size()))};
}

/// Counts the cores that the ranks of this host may use together. A rank that is bound sees only
/// its own; ranks bound to different ones do not crowd each other.
void count_cores() {
  Process& self = process();
  boot::Job& job = *self.job;
  const os::CoreShare mine = os::core_share();
  std::vector<os::CoreShare> everyones(job.size());
  job.exchange(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(everyones)));
  std::vector<os::CoreShare> here;
  for (const std::uint32_t rank : own_host()) here.push_back(everyones[rank]);
  self.usable_cores = std::min(os::usable_cores(here), os::cpu_count());
  self.crowded = here.size() > self.usable_cores;
  set_oversubscribed(self.crowded);
}

}  // namespace

const net::Host& conduit_host() noexcept {
  return host;
}

void start_process(void (*deliver)(std::uint32_t, net::Channel, const void*, std::size_t)) {
  Process& self = process();
  // First, so that what is wrong with all ranks is said by one of them, for the job.
  self.job = &boot::Job::join();
  watch_job();
  boot::Job& job = *self.job;
  env::check_values();
  env::warn_unknown();
  const ClientNotes notes = read_client_notes();
  choose_conduit(notes.conduit);

  gex_proc_.abi = GEX_ABI_VERSION_;
  // Callers that leave no record (Python, Fortran) may have any number of threads.
  gex_proc_.mode = notes.mode != 0 ? notes.mode : GEX_MODE_PAR_;
  gex_proc_.jobrank = job.rank();
  // Read by a library that checks in any case too, so that all refuse a malformed value.
  gex_proc_.checked = env::boolean(env::Variable::check) ? 1 : 0;
#ifdef GEX_DEBUG
  gex_proc_.checked = 1;
#endif
  InCall::note_from_start();
  self.threaded = gex_proc_.mode == GEX_MODE_PAR_;
  // A limit of threads that is none is refused now, and not when the first comes too many.
  static_cast<void>(max_threads());

  self.placement = place_ranks(job);
  count_cores();

  self.neighborhood = shm::Neighborhood::form(self.placement);
  attach_conduit(deliver);
  gex_proc_.jobsize = job.size();
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
  if (job.origin() == boot::Origin::singleton && !lone_rank_is_meant)
    warn("%s: this is a job of one rank (for N ranks: gexrun -n N, or GASNET_PSHM_NODES=N)",
         job.nested() ? "this program was started by a process of another job"
                      : "no launcher, and GASNET_PSHM_NODES is not set");
}

}  // namespace gex
