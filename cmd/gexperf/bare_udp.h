#pragma once
// The limits of rows over udp: the system's own datagrams, over the loopback and on the same two
// processors (bare/udp_bare.cc).

#include <string>

#include "measure.h"

namespace gexperf {

/// Part of `time_bare`: the microseconds of one message or write, one way.
bool time_bare_udp(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
