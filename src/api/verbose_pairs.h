#pragma once
// GEX_VERBOSE=1: which way messages go between the ranks of a job that starts.

namespace gex {

/// Collective where a rank is verbose (`Process::reports_pairs`), else nothing: a line of rank 0's
/// for each class of pairs (way/pairs.h). Once the network and its messages are set up.
void report_pairs();

}  // namespace gex
