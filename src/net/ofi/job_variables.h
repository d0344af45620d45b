#pragma once
// Variables of the environment by which libfabric learns of a job what it cannot find out.

#include <cstdint>
#include <string>
#include <vector>

namespace gex::net::ofi {

/// Set for libfabric alone, and only where the user has not set it.
struct JobVariable {
  const char* name;
  std::string value;
};

/// `cookie`: the job's number, which no other job has. All ranks come to the same.
std::vector<JobVariable> job_variables(std::uint64_t cookie, std::uint32_t ranks);

}  // namespace gex::net::ofi
