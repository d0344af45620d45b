#pragma once
// Put and get by the copies of a kind of memory (Way::kind): at least one side is memory of another
// kind than the host's, and a kind of this process's reaches both sides. The remote side is this
// process's own, a neighbor's host memory that is mapped here, or a peer's that the kind has
// opened.

#include "core/initiate.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// `at_once`: the copy and `done` are complete when this returns; the source is not in use, so
/// `local_done` is not touched.
Injected put_by_kind(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                     bool at_once) noexcept;
Injected get_by_kind(const ResolvedTransfer& transfer, const CompletionTargets& targets) noexcept;

}  // namespace gex::rma
