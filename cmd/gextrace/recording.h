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
                                        const std::vector<std::uint32_t>& wanted, std::string& why);

/// The events that join the ranks of a job (Keep::meetings), where these are read one after the
/// other.
struct Outline {
  Job job;
  Messages messages;
};
std::optional<Outline> read_outline(const std::vector<std::string>& paths,
                                    const std::vector<std::uint32_t>& wanted, std::string& why);

/// One rank of it.
struct RankRecording {
  RankTrace trace;
  RankSpans spans;
  /// By number among the outline's events of the rank: the number among all. More, where the job
  /// still runs.
  std::vector<std::uint32_t> meetings;
};
std::optional<RankRecording> read_rank(const RankTrace& outline, std::string& why,
                                       Annotations annotations = Annotations::shown);

}  // namespace gextrace
