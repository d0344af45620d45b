#pragma once
// Put and get by the network itself (Transfer::native), for segments that it has a key for.
//
// A transfer is cut into parts of the size that the network moves at once, of which each adds one
// to the completion targets.

#include "core/published.h"
#include "core/thread.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Gives the transfer the network's key of the segment that holds its remote side, and decides
/// whether the network carries it.
void find_key(ResolvedTransfer& transfer, const PublishedSegment& segment) noexcept;

/// Number of parts, hence of completions, of a transfer that is not empty.
std::uint32_t native_parts_of(const ResolvedTransfer& transfer) noexcept;

/// Injects all parts; non-zero if `immediate` and the first found no room: nothing was injected
/// then. Once the first is under way the others, if `immediate`, are injected by polls where there
/// is no room for them now; else they wait for it, polling. `local_done`, which may be null, is
/// completed when the source of a part may be reused.
int native_put(const ResolvedTransfer& transfer, CompletionTarget done, CompletionTarget local_done,
               bool immediate) noexcept;
int native_get(const ResolvedTransfer& transfer, CompletionTarget done, bool immediate) noexcept;

/// A put from a copy has one of these outcomes.
enum class CopiedPut {
  sent,      ///< the source may be reused
  refused,   ///< as by `native_put`: nothing was injected
  no_memory  ///< nothing was done, since no more copies are made at present
};
/// Puts a copy of the source, which is kept until the network has done with it. `any_size`: also
/// one that is larger than the bound on all copies, if there is no other.
CopiedPut native_put_copied(const ResolvedTransfer& transfer, CompletionTarget done, bool immediate,
                            bool any_size) noexcept;

}  // namespace gex::rma
