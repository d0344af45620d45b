#pragma once
// With GEX_VERBOSE=1 a rank prints what its network has counted, when it ends.

namespace gex {

/// From here on, by exit or return from main. Does nothing where the rank is not verbose or its
/// network counts nothing.
void report_network_at_exit();

/// Now, the first time; by gasnet_exit, which runs no exit handlers.
void report_network() noexcept;

/// Start-up only: calls `also` when the network's counts are printed.
void report_with_network(void (*also)() noexcept) noexcept;

}  // namespace gex
