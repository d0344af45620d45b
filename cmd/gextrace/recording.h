#pragma once
// A job's traces with what is found in them, on one clock. What joins ranks is held of all of them
// at once, everything else of one rank at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter.h"
#include "match.h"
#include "read.h"
#include "spans.h"

namespace gextrace {

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

/// A rank as an output gets it.
struct ShownRank {
  std::uint32_t index;  ///< in the outline
  const RankRecording& recording;
  const std::vector<bool>& kept;  ///< by span: the filter keeps it
};

/// By event of the outline's rank: the span that it is in, if that is kept; else none.
std::vector<std::uint32_t> kept_spans(const Outline& outline, const ShownRank& rank);

/// Something that is made of a job's ranks, which it gets one after the other.
class Output {
 public:
  virtual ~Output() = default;
  /// Gets each rank.
  virtual void survey(const ShownRank& rank) = 0;
  /// After all ranks: which of them are to be shown once more.
  virtual bool draws(std::uint32_t /*index*/) const { return false; }
  virtual void begin_drawing() {}
  virtual void draw(const ShownRank& /*rank*/) {}
  virtual void end_drawing() {}
};

/// Reads each rank's file once, or twice if an output draws it, for all outputs together. Returns
/// false, with the reason, if one cannot be read any more.
bool make_outputs(const Outline& outline, const Filter& filter, const std::vector<Output*>& outputs,
                  std::string& why);

}  // namespace gextrace
