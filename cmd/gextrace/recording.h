#pragma once
// A job's traces with what is found in them, on one clock.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "match.h"
#include "read.h"
#include "spans.h"

namespace gextrace {

struct Recording {
  Job job;
  Messages messages;
  std::vector<RankSpans> spans;
};

/// As read_job.
std::optional<Recording> read_recording(const std::vector<std::string>& paths,
                                        const std::vector<std::uint32_t>& wanted, std::string& why,
                                        Annotations annotations = Annotations::shown);

}  // namespace gextrace
