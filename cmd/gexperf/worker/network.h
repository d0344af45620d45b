#pragma once
// The times that puts, gets and messages take between ranks that a network joins, and how fast they
// follow one another. A name begins with the network's part: "emu." is beside the time that emu's
// own model gives it, as gexperf has found, "net." alone, over the network that the job was started
// with.

#include <string_view>

#include "../emu_limit.h"
#include "job.h"
#include "sampling.h"

namespace gexperf {

/// An operation of two ranks by its name, over whatever carries it; empty: there is none.
Repeated operation_of(const Job& job, std::string_view name);

/// Returns true if a measurement is one of these, for which `leave_neighborhood` is called before
/// the job is joined.
bool is_over_network(std::string_view measurement);
/// Returns true if it is over emu, which then pretends to be another network.
bool is_over_emu(std::string_view measurement);
/// Has this process be alone in its neighborhood, and emu pretend to be `model`; null: what the
/// environment has.
void leave_neighborhood(const char* model);

/// Collective. False if there is no such measurement. `by_model`: of one over emu.
bool measure_network(const Job& job, std::string_view measurement, unsigned rounds,
                     const EmuTime& by_model);

/// The handlers of its messages. Before the attach.
void register_network_handlers(const Job& job);

}  // namespace gexperf
