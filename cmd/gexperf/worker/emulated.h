#pragma once
// emu against its own model: what a put, a get and a message take, and how fast they follow one
// another, beside the time that the model gives them.

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

/// Whether a measurement is one of these, for which `pretend` is called before the job is joined.
bool is_emulated(std::string_view measurement);
/// Has this process be alone in its neighborhood, on such a network.
void pretend();

/// Collective. False if there is no such measurement.
bool measure_emulated(const Job& job, std::string_view measurement, unsigned rounds);

/// The handlers of its messages. Before the attach.
void register_emulated_handlers(const Job& job);

}  // namespace gexperf
