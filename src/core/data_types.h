#pragma once
// The names of data types and operation codes, for messages.

#include <gasnet_fwd.h>

namespace gex {

/// The name of a single type or operation; null for any other value.
const char* name_of_type(gex_DT_t type) noexcept;
const char* name_of_operation(gex_OP_t operation) noexcept;

}  // namespace gex
