#pragma once
// The limits of rows over udp: the system's own datagrams, over the loopback and on the same two
// processors (bare/udp_bare.cc).

#include <string>

#include "measure.h"

namespace gexperf {

/// How long `what` takes for one message of so many bytes, one way; `used_ns` receives the
/// processor time. False, and `trouble` is what failed.
bool time_bare_udp(const Plan& plan, BareUdp what, std::size_t bytes, double& ns, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
