#pragma once
// Programs as GOAL schedules, the text that LogGOPSim and its descendants read.

#include <cstdio>

#include "program.h"

namespace gextrace {

/// Writes the schedules of all ranks, computing times as they were recorded. A put is a message
/// that is answered, a get a question that is; what answers takes no time and waits for nothing.
/// Barriers and other collectives are messages by dissemination.
void write_goal(std::FILE* file, const Programs& programs);

}  // namespace gextrace
