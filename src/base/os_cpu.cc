#include "base/os_cpu.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/os_cgroup.h"

namespace gex::os {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

/// The mask of a thread, as long as the kernel's own at least.
struct Mask {
  CpuSet set;
  std::size_t bytes = 0;
  std::uint32_t processors = 0;

  std::vector<std::uint32_t> cores() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t core = 0; core < processors; ++core) {
      if (CPU_ISSET_S(core, bytes, set.get())) found.push_back(core);
    }
    return found;
  }
};

/// The calling thread's; none if it cannot be read. cpu_set_t ends at 1024 processors and
/// the kernel refuses a mask shorter than its own, so the mask grows until it fits.
std::optional<Mask> own_mask() {
  for (std::uint32_t processors = 1024; processors <= 1u << 20; processors *= 2) {
    Mask mask{CpuSet(CPU_ALLOC(processors)), CPU_ALLOC_SIZE(processors), processors};
    if (mask.set == nullptr) break;
    CPU_ZERO_S(mask.bytes, mask.set.get());
    if (::sched_getaffinity(0, mask.bytes, mask.set.get()) == 0) return mask;
    if (errno != EINVAL) break;
  }
  return std::nullopt;
}

/// The lowest-numbered hardware thread of the core's physical core: its own number when the
/// topology is unknown. The file holds a list such as "0,4" or "0-1".
std::uint32_t physical_core(std::uint32_t core, const std::string& root) {
  std::ifstream file(root + "/sys/devices/system/cpu/cpu" + std::to_string(core) +
                     "/topology/thread_siblings_list");
  std::uint32_t first = 0;
  return file >> first ? first : core;
}

}  // namespace

std::uint32_t cpu_count() noexcept {
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<std::uint32_t>(count) : 1;
}

std::vector<std::uint32_t> affinity() {
  if (const std::optional<Mask> mask = own_mask()) return mask->cores();
  std::vector<std::uint32_t> all(cpu_count());
  for (std::uint32_t core = 0; core < all.size(); ++core) all[core] = core;
  return all;
}

std::vector<std::uint32_t> bindable_cores() {
  const std::optional<Mask> before = own_mask();
  if (!before) return {};
  const CpuSet all(CPU_ALLOC(before->processors));
  if (all == nullptr) return {};
  std::memset(all.get(), 0xff, before->bytes);
  // The kernel takes from the mask what the thread's control group does not allow.
  if (::sched_setaffinity(0, before->bytes, all.get()) != 0) return {};
  const std::optional<Mask> widened = own_mask();
  if (::sched_setaffinity(0, before->bytes, before->set.get()) != 0 || !widened) return {};
  return widened->cores();
}

std::vector<std::uint32_t> allowed_cores() {
  return binding_order(affinity());
}

std::vector<std::uint32_t> binding_order(const std::vector<std::uint32_t>& cores,
                                         const std::string& root) {
  struct Place {
    std::uint32_t round;  // how many threads of the same physical core came before
    std::uint32_t core;
  };
  std::map<std::uint32_t, std::uint32_t> seen;
  std::vector<Place> places;
  places.reserve(cores.size());
  for (const std::uint32_t core : cores) {
    places.push_back({seen[physical_core(core, root)]++, core});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.round < b.round; });
  std::vector<std::uint32_t> ordered;
  ordered.reserve(places.size());
  for (const Place& place : places) ordered.push_back(place.core);
  return ordered;
}

std::uint32_t physical_core_count(const std::vector<std::uint32_t>& processors,
                                  const std::string& root) {
  std::set<std::uint32_t> cores;
  for (const std::uint32_t processor : processors) cores.insert(physical_core(processor, root));
  return static_cast<std::uint32_t>(cores.size());
}

CoreShare core_share(const std::string& root) {
  CoreShare share;
  if (const std::vector<std::uint32_t> cores = affinity(); !cores.empty())
    share = {cores.front(), cores.back(), static_cast<std::uint32_t>(cores.size())};
  constexpr double max = UINT32_MAX;
  if (const std::optional<double> quota = cgroup_limits(root).cpus)
    share.at_a_time = static_cast<std::uint32_t>(std::clamp(std::ceil(*quota), 1.0, max));
  return share;
}

std::uint32_t usable_cores(std::span<const CoreShare> shares) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  std::uint32_t cores = 0;
  std::uint32_t at_a_time = 0;
  for (const CoreShare& share : shares) {
    if (seen.emplace(share.first, share.last, share.count).second) cores += share.count;
    at_a_time = std::max(at_a_time, share.at_a_time);
  }
  return std::max(std::min(cores, at_a_time), 1U);
}

int bind_to_cores(std::span<const std::uint32_t> cores) noexcept {
  if (cores.empty()) return EINVAL;
  const std::uint32_t processors = *std::max_element(cores.begin(), cores.end()) + 1;
  const CpuSet set(CPU_ALLOC(processors));
  if (set == nullptr) return ENOMEM;
  const std::size_t bytes = CPU_ALLOC_SIZE(processors);
  CPU_ZERO_S(bytes, set.get());
  for (const std::uint32_t core : cores) CPU_SET_S(core, bytes, set.get());
  return ::sched_setaffinity(0, bytes, set.get()) == 0 ? 0 : errno;
}

int pin_to_core(std::uint32_t core) noexcept {
  return bind_to_cores({&core, 1});
}

std::uint32_t current_core() noexcept {
  return static_cast<std::uint32_t>(sched_getcpu());
}

void nap(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec time{static_cast<time_t>(nanoseconds / second),
                      static_cast<long>(nanoseconds % second)};
  // The C library's function is a cancellation point.
  syscall(SYS_nanosleep, &time, nullptr);
}

void yield() noexcept {
  ::sched_yield();
}

}  // namespace gex::os
