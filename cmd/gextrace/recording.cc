#include "recording.h"

#include <algorithm>
#include <utility>

#include "align.h"

namespace gextrace {

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

std::vector<std::uint32_t> kept_spans(const Outline& outline, const ShownRank& rank) {
  const std::size_t events = outline.job.ranks[rank.index].events.size();
  const std::vector<std::uint32_t>& meetings = rank.recording.meetings;
  std::vector<std::uint32_t> spans(events, Span::none);
  for (std::size_t i = 0; i < std::min(events, meetings.size()); ++i) {
    const std::uint32_t span = rank.recording.spans.span_of_event[meetings[i]];
    if (span != Span::none && rank.kept[span]) spans[i] = span;
  }
  return spans;
}

bool make_outputs(const Outline& outline, const Filter& filter, const std::vector<Output*>& outputs,
                  std::string& why) {
  const auto show = [&](std::uint32_t index, const auto& to_output) {
    const RankTrace& rank = outline.job.ranks[index];
    const std::optional<RankRecording> recording = read_rank(rank, why);
    if (!recording) return false;
    const std::vector<bool> keeps = kept(filter, recording->trace, recording->spans);
    for (Output* const output : outputs) to_output(*output, ShownRank{index, *recording, keeps});
    return true;
  };
  const auto ranks = static_cast<std::uint32_t>(outline.job.ranks.size());
  for (std::uint32_t i = 0; i < ranks; ++i)
    if (!show(i, [](Output& output, const ShownRank& rank) { output.survey(rank); })) return false;
  for (Output* const output : outputs) output->begin_drawing();
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const auto drawn = [i](const Output* output) { return output->draws(i); };
    if (std::none_of(outputs.begin(), outputs.end(), drawn)) continue;
    const auto draw = [](Output& output, const ShownRank& rank) {
      if (output.draws(rank.index)) output.draw(rank);
    };
    if (!show(i, draw)) return false;
  }
  for (Output* const output : outputs) output->end_drawing();
  return true;
}

}  // namespace gextrace
