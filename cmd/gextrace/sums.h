#pragma once
// The sums of the ranks that were not traced (base/trace_sums.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/trace_sums.h"

namespace gextrace {

struct Sums {
  std::uint32_t job_size = 0;
  std::uint32_t ranks = 0;            ///< that have added theirs
  std::vector<gex::trace::Sum> rows;  ///< those that something was counted in
};

/// Reads NAME.sums; empty if there is no such file, or it is of another build.
std::optional<Sums> read_sums(const std::string& name);

/// The thing that a row counts: "call", "waiting for", ...
const char* kind_of(const gex::trace::Sum& row);

}  // namespace gextrace
