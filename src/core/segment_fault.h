#pragma once
// Faults of put, get and atomic operations inline, whose target is memory of a neighbor that lies
// in none of its segments. Clients of implementations in which any memory is a target
// (GASNET_SEGMENT_EVERYTHING) make such calls; here the address that is computed for it is no
// memory, or memory for something else.

namespace gex {

/// From now on such a fault ends the job in one line; one that may be something else gets the line,
/// and ends the process as before. Once, when the neighborhood has been formed.
void explain_segment_faults() noexcept;

}  // namespace gex
