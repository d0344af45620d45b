#pragma once
// Transfers in the order of a device's streams (gex/mk_streams.h).

#include <gasnetex.h>

#include "core/memory.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Has polls start a put that is not empty once a device's event, which the client has recorded,
/// has happened.
gex_Event_t put_after(const ResolvedTransfer& transfer, const MemoryKind& kind, void* device_event,
                      gex_Flags_t flags) noexcept;

/// Has later work of a stream wait for an event, which this consumes.
void hold_stream(const MemoryKind& kind, void* stream, gex_Event_t event, Call call) noexcept;

}  // namespace gex::rma
