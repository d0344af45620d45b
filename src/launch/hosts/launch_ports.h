#pragma once

#include <optional>

#include "base/port_range.h"

namespace gex::launch {

/// The content of GEX_LAUNCH_PORTS; empty: any port. A malformed one ends the job.
std::optional<PortRange> launch_ports();

}  // namespace gex::launch
