#include "recording.h"

#include <utility>

#include "align.h"

namespace gextrace {

std::optional<Recording> read_recording(const std::vector<std::string>& paths,
                                        const std::vector<std::uint32_t>& wanted,
                                        std::string& why) {
  std::optional<Job> job = read_job(paths, wanted, why);
  if (!job) return std::nullopt;
  Recording recording{std::move(*job), {}, {}};
  convert_ticks(recording.job);
  recording.messages = match(recording.job);
  correct_clocks(recording.job, recording.messages);
  recording.spans = spans_of(recording.job);
  return recording;
}

std::optional<Outline> read_outline(const std::vector<std::string>& paths,
                                    const std::vector<std::uint32_t>& wanted, std::string& why) {
  std::optional<Job> job = read_job(paths, wanted, why, Keep::meetings);
  if (!job) return std::nullopt;
  Outline outline{std::move(*job), {}};
  convert_ticks(outline.job);
  outline.messages = match(outline.job);
  correct_clocks(outline.job, outline.messages);
  return outline;
}

std::optional<RankRecording> read_rank(const RankTrace& outline, std::string& why,
                                       Annotations annotations) {
  std::optional<RankTrace> trace = read_file(outline.path, why);
  if (!trace) return std::nullopt;
  trace->clock = outline.clock;
  convert_ticks(*trace);
  RankRecording recording{std::move(*trace), {}, {}};
  recording.spans = spans_of(recording.trace, annotations);
  const std::vector<Event>& events = recording.trace.events;
  for (std::uint32_t event = 0; event < events.size(); ++event)
    if (is_meeting(events[event].kind)) recording.meetings.push_back(event);
  return recording;
}

}  // namespace gextrace
