#pragma once
// One clock for all ranks.
//
// Processes of a host share its clocks, so their ticks are converted alike. Between hosts the
// clocks' time of day is corrected by the messages: none arrives before it was sent, which bounds
// the difference of two clocks from one side, and messages the other way from the other. Where both
// bounds are known their middle is taken, which is right when the fastest message took as long
// either way.

#include <string>
#include <vector>

#include "match.h"
#include "read.h"

namespace gextrace {

/// Replaces the ticks of all events by nanoseconds since the job began, by the hosts' time of day.
void convert_ticks(Job& job);

/// Replaces those of one rank, to whose trace the clock has been copied from an earlier reading.
void convert_ticks(RankTrace& trace);

/// Corrects these times by the messages, and counts them from the first event. Remarks on what
/// could not be done are added to the job's.
void correct_clocks(Job& job, const Messages& messages);

}  // namespace gextrace
