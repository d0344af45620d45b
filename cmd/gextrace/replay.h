#pragma once
// When the ranks of a job would take their steps on another machine: a simulation of discrete
// events.
//
// A call that sends or transfers occupies its rank for the send overhead; a put is complete two
// latencies after its last byte has left, a get two after it was asked for and its bytes have come.
// A handler takes the receive overhead, and the time that it took. Barriers are messages of the
// hosts' leaders; other collectives pass messages as the library's plans for these hosts have it,
// on ports that are free.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine.h"
#include "program.h"

namespace gextrace {

struct RankTimes {
  double end_ns = 0;
  double computing_ns = 0;
  double waiting_ns = 0;  ///< for operations, messages and collectives
};

struct Replayed {
  double ns = 0;
  std::vector<RankTimes> ranks;
  std::vector<HostPorts::Load> hosts;  ///< without collectives, but for barriers
};

/// Nothing, and the reason in `why`, if ranks wait for what no rank does.
std::optional<Replayed> replay(const Programs& programs, const Machine& machine, std::string& why);

/// When each member of a collective that is no barrier has completed it, that arrived at these
/// times.
std::vector<double> completions_of(const ProgramCollective& collective, const Machine& machine,
                                   const std::vector<double>& arrivals);

}  // namespace gextrace
