#pragma once
// What a process has given the provider: sums of all its endpoints, in a file that outlives it.

#include "wire.h"

namespace gexsim {

/// An operation is accepted. With FI_GEXSIM_COUNTS=FOLDER the file FOLDER/PID has the numbers of
/// sends, writes, reads and atomic operations, 8 bytes each.
void count(Kind kind);

}  // namespace gexsim
