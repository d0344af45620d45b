#pragma once
// What puts, gets and messages take between ranks that a network joins, and how fast they follow
// one another. A name begins with the network's part: "emu." is beside the time that emu's own
// model gives it, "net." alone, over the network that the job was started with.

#include <string_view>

#include "job.h"

namespace gexperf {

/// A latency of 1 us, and a bandwidth that any machine copies at twice.
struct PretendedNetwork {
  double latency_ns = 1000;
  double send_overhead_ns = 200;
  double receive_overhead_ns = 200;
  double ns_per_byte = 0.5;
};
inline constexpr PretendedNetwork pretended;

/// Whether a measurement is one of these, for which `leave_neighborhood` is called before the job
/// is joined.
bool is_over_network(std::string_view measurement);
/// Has this process be alone in its neighborhood, and emu pretend.
void leave_neighborhood();

/// Collective. False if there is no such measurement.
bool measure_network(const Job& job, std::string_view measurement, unsigned rounds);

/// The handlers of its messages. Before the attach.
void register_network_handlers(const Job& job);

}  // namespace gexperf
