#pragma once
// The start of the library: the process, then each room, in the order in which they use one
// another.

#include "core/self_start.h"

namespace gex {

/// By the first gex_Client_Init, which was given `line`.
void start_library(const CommandLine& line);

}  // namespace gex
