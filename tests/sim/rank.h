#pragma once
// Inside a module: what its rank has from the program (services.h).

#include "services.h"

namespace gex::sim {

/// Requires that the rank runs.
const Services& services() noexcept;

}  // namespace gex::sim
