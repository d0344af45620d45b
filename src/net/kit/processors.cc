#include "net/kit/processors.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace gex::net {

std::uint32_t ranks_here(const Host& host, std::uint32_t end) {
  const std::uint32_t here = host.host_of(host.rank);
  std::uint32_t count = 0;
  for (std::uint32_t rank = 0; rank < end; ++rank)
    if (host.host_of(rank) == here) ++count;
  return count;
}

std::uint32_t processors_of_rank(const Host& host) {
  const long all = std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L);
  const auto share = static_cast<std::uint32_t>(all) / std::max(ranks_here(host, host.size), 1U);
  cpu_set_t own;
  const bool is_bound = sched_getaffinity(0, sizeof own, &own) == 0;
  const auto bound = is_bound ? static_cast<std::uint32_t>(CPU_COUNT(&own)) : share;
  return std::max(std::min(share, bound), 1U);
}

std::uint32_t possible_connections(const Host& host) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return UINT32_MAX;
  // A quarter: two may exist for a moment where both ends make one.
  const rlim_t possible = files.rlim_cur / 4 / std::max(host.size, 1U);
  return static_cast<std::uint32_t>(std::clamp<rlim_t>(possible, 1, UINT32_MAX));
}

}  // namespace gex::net
