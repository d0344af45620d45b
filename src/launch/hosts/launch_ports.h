#pragma once
// The ports on which processes of a job listen for those of other hosts.

#include <optional>
#include <string>

#include "base/port_range.h"

namespace gex::launch {

/// GEX_LAUNCH_PORTS, or GEX_PORTS where it is not set; empty: any port. A malformed one ends the
/// job.
std::optional<PortRange> launch_ports();

/// The report when none of them is free: "cannot listen for the other hosts", with the variable
/// and its value.
std::string cannot_listen();

}  // namespace gex::launch
