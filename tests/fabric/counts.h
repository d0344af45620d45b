#pragma once
// Counts of the operations that a process has given the provider: sums of all its endpoints, in a
// file that outlives it.

#include "endpoint.h"

namespace gexsim {

/// An operation is accepted. With FI_GEXSIM_COUNTS=FOLDER the file FOLDER/PID has the numbers of
/// sends, writes, reads and atomic operations, of those the writes that complete when they are
/// delivered and the sends that their receivers fetch, and of addresses, 8 bytes each.
void count(const Operation& operation);
/// An address is inserted.
void count_address();

}  // namespace gexsim
