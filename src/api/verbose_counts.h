#pragma once
// GEX_VERBOSE=1: what a rank has sent for teams and barriers, when it ends.

namespace gex {

/// Start-up only: from here on a line with the network's counts.
void report_counts_at_exit() noexcept;

}  // namespace gex
