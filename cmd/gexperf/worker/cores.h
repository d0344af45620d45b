#pragma once
// Measurements of as many ranks as there are cores, or of 2, 8 and 16 of them.

#include "sampling.h"

namespace gexperf {

/// Gives the job's endpoint the handlers of cores.cc. Before the attach.
void register_core_handlers(const Job& job);

// cores.cc
void cores_barrier(const Context& context);
void cores_to_one(const Context& context);
void cores_to_all(const Context& context);
void cores_hot_spot(const Context& context);

// cores_coll.cc: `context.options` are the number of bytes, and where they are: "segment" or
// "private".
void cores_broadcast(const Context& context);
void cores_reduce_to_all(const Context& context);

}  // namespace gexperf
