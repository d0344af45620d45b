#pragma once
// A put by messages whose source is memory of a device: it is copied part by part to buffers of the
// host's, several at a time, and each part is sent once its copy is done. No call waits for one.
//
// Thread rules: any.

#include "core/initiate.h"
#include "core/memory.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Begins a put whose source is memory of `kind`. The source is in use after this; each part that
/// has been copied completes `local_done`.
Injected put_staged(const ResolvedTransfer& transfer, const MemoryKind& kind,
                    const CompletionTargets& targets) noexcept;

}  // namespace gex::rma
