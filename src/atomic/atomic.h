#pragma once
// Atomic operations, out of line: for targets whose memory is not mapped, for flags that the inline
// form leaves to a call, for clients compiled without optimisation, and for checked mode.
//
// A domain is for the processors or for the network. In one for the processors, a mapped target is
// operated on by the calling process, and any other by its owner, which a message asks (remote.h).
// Both execute the processor's own atomic instructions, the same text (base/atomic_operations.h),
// so a word that some ranks reach directly and others by messages is atomic for all of them. In a
// domain for the network, the network performs every operation on a segment that it has a key for
// (native.h), wherever the segment is mapped; a segment without a key has none on any rank, and is
// left to the processors.
//
// Operations poll now and then, where they do not go inline: in domains for the network, and in
// those of which some members are reached by messages alone.

#include <gasnetex.h>

#include "atomic/operation.h"

namespace gex::atomic {

gex_Event_t operate_explicit(const AtomicRequest& operation, gex_Flags_t flags) noexcept;
int operate_implicit(const AtomicRequest& operation, gex_Flags_t flags) noexcept;

/// Start-up only.
void start();

}  // namespace gex::atomic
