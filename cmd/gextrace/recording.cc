#include "recording.h"

#include <utility>

#include "align.h"

namespace gextrace {

std::optional<Recording> read_recording(const std::vector<std::string>& paths,
                                        const std::vector<std::uint32_t>& wanted, std::string& why,
                                        Annotations annotations) {
  std::optional<Job> job = read_job(paths, wanted, why);
  if (!job) return std::nullopt;
  Recording recording{std::move(*job), {}, {}};
  convert_ticks(recording.job);
  recording.messages = match(recording.job);
  correct_clocks(recording.job, recording.messages);
  recording.spans = spans_of(recording.job, annotations);
  return recording;
}

}  // namespace gextrace
