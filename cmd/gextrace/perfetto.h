#pragma once
// The timeline as Chrome's JSON trace events, which Perfetto and chrome://tracing open: a process
// for each rank, a track for each thread, flow arrows for messages, asynchronous spans for
// operations in flight.

#include <cstdio>
#include <vector>

#include "filter.h"
#include "match.h"
#include "read.h"
#include "spans.h"

namespace gextrace {

/// Writes the events to `file`, whose errors the caller looks for.
void write_perfetto(std::FILE* file, const Job& job, const std::vector<RankSpans>& spans,
                    const Messages& messages, const Filter& filter);

}  // namespace gextrace
