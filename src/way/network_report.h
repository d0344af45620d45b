#pragma once
// With GEX_VERBOSE=1 a rank prints what its network has counted, when it ends.

namespace gex {

/// From here on, by exit or return from main. Does nothing where the rank is not verbose or its
/// network counts nothing.
void report_network_at_exit();

/// Now, the first time; by gasnet_exit, which runs no exit handlers.
void report_network() noexcept;

}  // namespace gex
