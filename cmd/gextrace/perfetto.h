#pragma once
// The timeline as Chrome's JSON trace events, which Perfetto and chrome://tracing open: a process
// for each rank, a track for each thread, flow arrows for messages, asynchronous spans for
// operations in flight.

#include <cstdio>
#include <memory>

#include "recording.h"

namespace gextrace {

/// Writes the events to `file`, whose errors the caller looks for. Both outlive it.
std::unique_ptr<Output> make_timeline(std::FILE* file, const Outline& outline);

}  // namespace gextrace
