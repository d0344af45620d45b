#pragma once
// Measurements of several threads of two ranks: T threads of rank 0 work with T threads of rank 1,
// or on its memory. PAR only.

#include <string_view>

#include "sampling.h"

namespace gexperf {

/// Gives the job's endpoint the handlers of threads.cc. Before the attach.
void register_thread_handlers(const Job& job);

/// Measures the rows threads.*: `context.options` are the number of threads of a rank, and a list
/// of processors: first those of rank 0's threads, then those of rank 1's.
void threads_flood(const Context& context);
void threads_round_trip(const Context& context);
void threads_put(const Context& context);
void threads_fetch_add(const Context& context);
void threads_mixed(const Context& context);

}  // namespace gexperf
