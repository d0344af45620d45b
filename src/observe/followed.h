#pragma once
// Operations of traced jobs, followed to their completion: a target (core/thread.h) with a tag
// leads to a record of the operation, which passes completions on to the operation's own word and
// puts the last one into the trace. Jobs that are not traced have no such targets.
//
// Thread rules: `follow` and `settle` by the thread that initiates, in this order; any thread
// completes, also before `settle`.

#include "core/thread.h"

namespace gex {

/// These stand for `done` and `local`, of which the second may be null, while an operation is
/// injected.
struct FollowedTargets {
  CompletionTarget done;
  CompletionTarget local;
};
FollowedTargets follow(CompletionTarget done, CompletionTarget local) noexcept;

/// The operation has been injected in that many parts, and as many complete `local`; 0 of the
/// first: not at all.
void settle(const FollowedTargets& targets, std::uint32_t parts,
            std::uint32_t local_parts) noexcept;

}  // namespace gex
