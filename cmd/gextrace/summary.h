#pragma once
// The sums of a trace.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "filter.h"
#include "match.h"
#include "read.h"
#include "recording.h"
#include "spans.h"
#include "sums.h"

namespace gextrace {

struct Tally {
  std::uint64_t count = 0;
  std::int64_t ns = 0;
  std::uint64_t bytes = 0;
};

struct CallSummary {
  std::string kind;  ///< put, get, message, ...
  Tally all;
  std::uint64_t refused = 0;  ///< immediate calls that found no room
  std::int64_t waiting = 0;   ///< ns of it, without handlers
  std::map<std::uint32_t, Tally> peers;
};

/// The traffic from one rank to another, by its initiator: a get's bytes go to the rank that asks.
struct PairSummary {
  Tally puts, gets, atomics, messages, own_messages;
};

struct RankSummary {
  std::uint32_t rank = 0;
  std::string host;
  std::uint32_t process = 0;
  bool closed = false;
  std::uint64_t events = 0, lost = 0;
  std::int64_t begin = 0, end = 0;  ///< ns of the first and the last event
  std::int64_t calls = 0;           ///< ns in calls
  std::int64_t waiting = 0, handlers = 0;
  Tally questions;  ///< calls that only asked, and found nothing
};

struct Summary {
  std::uint32_t job_size = 0;
  std::string program, conduit;
  std::vector<std::string> remarks;
  std::vector<RankSummary> ranks;
  Sums untraced;  ///< of the other ranks
  std::map<std::string, CallSummary> calls;
  std::map<std::string, Tally> handlers;      ///< the client's
  std::map<std::string, Tally> own_handlers;  ///< the library's
  std::map<std::string, Tally> intervals;     ///< that layers above have named
  /// By cause, and the call that made what is waited for, or that waits.
  std::map<std::pair<std::string, std::string>, Tally> waits;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PairSummary> pairs;
  std::uint64_t messages_sent = 0, messages_handled = 0, arrows = 0;
  std::uint64_t backwards = 0;                  ///< arrows that end before they begin
  std::uint64_t barriers = 0, collectives = 0;  ///< arrivals at one
  /// By rank: collective operations at which it was the last to arrive, and how long after the last
  /// but one. Of those whose members' arrivals are all here.
  std::map<std::uint32_t, Tally> last_arrivals;
};

/// Makes the summary of the job whose files have these names.
class Summarizer : public Output {
 public:
  Summarizer(const Outline& outline, const std::vector<std::string>& paths, const Filter& filter);
  void survey(const ShownRank& rank) override;
  const Summary& summary() const noexcept { return summary_; }

 private:
  Summary summary_;
  const Filter& filter_;
};

std::string as_text(const Summary& summary);
std::string as_json(const Summary& summary);

}  // namespace gextrace
