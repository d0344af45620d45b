#pragma once
// Variables of the environment by which libfabric learns of a job what it cannot find out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/port_range.h"

namespace gex::net::ofi {

/// The ports that its provider tcp listens on.
inline constexpr const char* low_port = "FI_TCP_PORT_LOW_RANGE";
inline constexpr const char* high_port = "FI_TCP_PORT_HIGH_RANGE";

/// Set for libfabric alone, and only where the user has not set it.
struct JobVariable {
  const char* name;
  std::string value;
};

/// `cookie`: the job's number, which no other job has. All ranks come to the same. `ports`: those
/// that the user allows, if not all.
std::vector<JobVariable> job_variables(std::uint64_t cookie, std::uint32_t ranks,
                                       const std::optional<PortRange>& ports);

}  // namespace gex::net::ofi
