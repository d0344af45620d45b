#pragma once
// Put and get by the network itself (Way::network), for segments that it has a key for.
//
// A transfer is cut into parts of the size that the network moves at once, of which each adds one
// to the completion targets.

#include <cstdint>

#include "core/initiate.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Number of parts, hence of completions, of a transfer that is not empty.
std::uint32_t native_parts_of(const ResolvedTransfer& transfer) noexcept;

/// A put may be made from a copy of its source, which may then be reused when the call returns.
enum class FromCopy : std::uint8_t {
  no,
  if_there_is_memory,  ///< copies are bounded in all; beyond that the put is as with `no`
  yes,                 ///< as an immediate call must, which does not wait for its source
};

/// Injects all parts; none if `immediate` and the first found no room. Once the first is under way
/// the others, if `immediate`, are injected by polls where there is no room for them now; else they
/// wait for it, polling.
Injected native_put(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                    FromCopy from_copy, bool immediate) noexcept;
Injected native_get(const ResolvedTransfer& transfer, CompletionTarget done,
                    bool immediate) noexcept;

}  // namespace gex::rma
