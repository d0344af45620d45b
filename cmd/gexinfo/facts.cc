#include "facts.h"

#include <gasnetex.h>

#include <algorithm>
#include <map>

#include "am/limits.h"
#include "am/message.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/os_cgroup.h"
#include "base/os_cpu.h"
#include "base/os_host.h"
#include "base/spin.h"
#include "core/process.h"
#include "core/thread.h"
#include "job/limits.h"

namespace gexinfo {

namespace {

std::string version_of(unsigned major, unsigned minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

VersionFacts version() {
  return {GEX_LIBRARY_VERSION,
          GEX_ABI_VERSION_,
          version_of(GEX_SPEC_VERSION_MAJOR, GEX_SPEC_VERSION_MINOR),
          version_of(GASNET_SPEC_VERSION_MAJOR, GASNET_SPEC_VERSION_MINOR),
          version_of(GASNETT_SPEC_VERSION_MAJOR, GASNETT_SPEC_VERSION_MINOR),
          version_of(GASNET_RELEASE_VERSION_MAJOR, GASNET_RELEASE_VERSION_MINOR) + "." +
              std::to_string(GASNET_RELEASE_VERSION_PATCH),
#ifdef __clang__
          "Clang " __clang_version__,
#else
          "GCC " __VERSION__,
#endif
          gex::checked()};
}

const char* name_of(gex::job::Origin origin) {
  switch (origin) {
    case gex::job::Origin::gexrun:
      return "gexrun";
    case gex::job::Origin::forked:
      return "GASNET_PSHM_NODES";
    case gex::job::Origin::foreign:
      return "another launcher";
    case gex::job::Origin::singleton:
      break;
  }
  return "itself";
}

}  // namespace

JobFacts job() {
  const gex::Process& process = gex::process();
  gex_Rank_t neighborhoods = 0;
  gex_Rank_t hosts = 0;
  gex_System_QueryMyPosition(&neighborhoods, nullptr, &hosts, nullptr);
  return {process.job->size(),
          hosts,
          neighborhoods,
          gex::os::hostname(),
          name_of(process.job->origin()),
          process.neighborhood.size(),
          process.neighborhood.size_reason(),
          process.conduit_name,
          process.conduit_reason};
}

LimitFacts limits() {
  const bool pair_rings = gex::process().neighborhood.has_pair_rings();
  const gex::shm::RingShape ring = pair_rings ? gex::shm::pair_shape : gex::shm::shared_shape;
  // A process is its own neighbor: these are the limits within a neighborhood.
  const gex_Rank_t self = gex_proc_.jobrank;
  return {gex::max_args,
          GEX_AM_INDEX_BASE,
          255,
          gex::job::max_ranks,
          GASNET_MAXEPS,
          gex::max_threads(),
          gex::am::max_medium(self),
          gex::am::max_long(self, /*is_reply=*/false, 0),
          gex::am::max_long(self, /*is_reply=*/false, GEX_FLAG_AM_PREPARE_LEAST_ALLOC),
          ring.reply_window,
          !pair_rings};
}

namespace {

std::vector<ControlMemory> control_memory() {
  std::vector<std::uint32_t> sizes{2, 16, 64, 1024};
  sizes.push_back(gex::process().neighborhood.size());
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<ControlMemory> result;
  result.reserve(sizes.size());
  for (const std::uint32_t size : sizes)
    result.push_back({size, gex::shm::Neighborhood::control_layout(
                                size, gex::process().neighborhood.job_counts())});
  return result;
}

std::vector<gex::shm::SlabClass> slabs() {
  std::map<std::uint32_t, std::uint32_t> count_by_bytes;
  for (const auto& classes : {gex::shm::request_slabs, gex::shm::reply_slabs})
    for (unsigned i = 0; i < 2; ++i) count_by_bytes[classes[i].bytes] += classes[i].count;
  std::vector<gex::shm::SlabClass> result;
  result.reserve(count_by_bytes.size());
  for (const auto& [bytes, count] : count_by_bytes) result.push_back({bytes, count});
  return result;
}

MemoryFacts memory() {
  using gex::env::Variable;
  const gex::Process& process = gex::process();
  const gex::shm::Neighborhood& neighborhood = process.neighborhood;
  MemoryFacts facts{};
  facts.file = neighborhood.memory_origin();
  if (neighborhood.memory_space() != UINT64_MAX) facts.file_space = neighborhood.memory_space();
  facts.control = control_memory();
  facts.slabs = slabs();
  facts.largest_segment = neighborhood.max_segment();
  facts.segment_reason = neighborhood.segment_reason();
  facts.limits = gex::os::memory_limits();
  facts.segment_wanted = gex::env::text(Variable::max_segsize);
  facts.segment_wanted_is_default = !gex::env::value(Variable::max_segsize);
  facts.segment_wanted_bytes =
      gex::env::memory(Variable::max_segsize)
          .bytes_per_process(facts.limits.usable_physical(), gex::own_host().size());
  facts.segment_commit = gex::env::boolean(Variable::segment_commit);
  facts.huge_pages = gex::os::huge_pages();
  // The library advises them for segments; under "never", "deny" and no setting at all the system
  // ignores that.
  const std::string& word = facts.huge_pages.shared;
  if (facts.file == "memfd")
    facts.huge_pages_used = !word.empty() && word != "never" && word != "deny";
  facts.page = gex::os::page_size();
  return facts;
}

MachineFacts machine() {
  const gex::Process& process = gex::process();
  MachineFacts facts{};
  facts.online = gex::os::cpu_count();
  facts.allowed = gex::os::allowed_cores();
  std::sort(facts.allowed.begin(), facts.allowed.end());
  facts.cgroup_cpus = gex::os::cgroup_limits().cpus;
  facts.usable = process.usable_cores;
  facts.ranks_on_host = gex::own_host().size();
  facts.yields = gex::oversubscribed();
  facts.clock = gex::tick_source();
  facts.clock_reason = gex::tick_reason();
  return facts;
}

std::vector<DeviceClassFacts> device_memory() {
  std::vector<DeviceClassFacts> facts;
  for (const gex::kinds::DeviceClass* one : gex::kinds::classes()) {
    DeviceClassFacts& found = facts.emplace_back();
    found.kind = one->memory.name;
    found.devices = one->devices(found.reason);
    found.driver = one->driver();
  }
  return facts;
}

}  // namespace

Facts gather(Conduits conduits) {
  mark_chosen(conduits);
  return {version(), job(), std::move(conduits), limits(), memory(), device_memory(), machine()};
}

}  // namespace gexinfo
