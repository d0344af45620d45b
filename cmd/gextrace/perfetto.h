#pragma once
// The timeline as Chrome's JSON trace events, which Perfetto and chrome://tracing open: a process
// for each rank, a track for each thread, flow arrows for messages, asynchronous spans for
// operations in flight.

#include <cstdio>
#include <string>

#include "filter.h"
#include "recording.h"

namespace gextrace {

/// Writes the events to `file`, whose errors the caller looks for; reads the ranks one after the
/// other. Returns false, with the reason, if one cannot be read any more.
bool write_perfetto(std::FILE* file, const Outline& outline, const Filter& filter,
                    std::string& why);

}  // namespace gextrace
