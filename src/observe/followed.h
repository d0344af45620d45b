#pragma once
// Operations of traced jobs, followed to their completion: a target (core/thread.h) with a tag
// leads to a record of the operation, which passes completions on to the operation's own word and
// puts the last one into the trace. These functions are those of core/observer.h.

#include "core/observer.h"
#include "core/thread.h"

namespace gex {

FollowedTargets follow(CompletionTarget done, CompletionTarget local_done) noexcept;
void settle(const FollowedTargets& targets, std::uint32_t parts,
            std::uint32_t local_parts) noexcept;
void complete_followed(CompletionTarget target, std::uint32_t parts) noexcept;

}  // namespace gex
