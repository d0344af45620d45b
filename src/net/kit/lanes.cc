#include "net/kit/lanes.h"

#include <algorithm>

#include "net/kit/processors.h"

namespace gex::net {

namespace {

/// Where no number is wanted.
constexpr std::uint32_t default_lanes = 4;

}  // namespace

std::int64_t wanted_lanes(const Host& host, const char* variable, std::uint32_t max,
                          std::string& error) {
  const std::int64_t wanted = host.env_integer(variable);
  if (wanted < 0 || wanted > max)
    error = std::string(variable) + " is " + std::to_string(wanted) + "; it must be from 0 to " +
            std::to_string(max);
  return wanted;
}

std::uint32_t lane_count(const Host& host, std::int64_t wanted) {
  if (host.threaded == 0) return 1;
  return wanted > 0 ? static_cast<std::uint32_t>(std::min<std::int64_t>(wanted, max_lanes))
                    : std::min(default_lanes, processors_of_rank(host));
}

std::string describe_lanes(std::int64_t wanted, const char* ends, const char* variable) {
  const std::int64_t max = wanted > 0 ? std::min<std::int64_t>(wanted, max_lanes) : default_lanes;
  return "at most " + std::to_string(max) + " " + ends +
         " for the threads of a GASNET_PAR process" +
         (wanted > 0 ? std::string(": ") + variable : ", and no more than it has processors");
}

}  // namespace gex::net
