#pragma once
// Bringing the process up: the job, the clients' notes, the neighborhood, the conduit.

#include "core/conduit_host.h"
#include "core/self_start.h"

namespace gex {

/// Set before `start_process` by programs of ours that run without a launcher on purpose: no
/// warning about a job of one rank.
extern bool suppress_singleton_warning;

/// Joins the job, agrees on the clients' threading mode, forms the neighborhood, chooses and
/// attaches the conduit, which gives arrived messages to `deliver`. Processes outside the
/// neighborhood, and no conduit that reaches them, end the job in one line. `line` is what
/// gex_Client_Init was given.
void start_process(Deliver deliver, const CommandLine& line);

}  // namespace gex
