#pragma once
// gasnet_attach: handlers and segment in one collective call, which succeeds on all ranks or none.

#include <gasnet.h>

#include <cstdint>

namespace gex::legacy {

/// Over the team of the client that gasnet_init has made. The result of gasnet_attach. Once that is
/// GASNET_OK, `attached` is called with the segment, if any, before a handler of the table can run.
int attach(gasnet_handlerentry_t* table, int count, std::uintptr_t segment_size,
           std::uintptr_t heap_offset, void (*attached)(gex_Segment_t segment));

}  // namespace gex::legacy
