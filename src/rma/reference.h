#pragma once
// Put and get made of active messages, for any conduit.
//
// A transfer is cut into messages of the network's size. Each part adds one to the completion
// target when it is done: for a put when the peer has acknowledged it, for a get when its data has
// been written. The payload of a put is copied when its message is sent, so a put is locally
// complete as soon as it has been injected.

#include "core/thread.h"
#include "rma/rma.h"

namespace gex::rma {

/// Number of parts, hence of completions, of a transfer of that size; at least 1.
std::uint32_t parts_of(std::size_t size) noexcept;

/// Injects all parts; non-zero if `immediate` and the first found no room (nothing was sent then;
/// once the first part is under way the rest waits for room).
int put_parts(const Transfer& transfer, CompletionTarget target, bool immediate) noexcept;
int get_parts(const Transfer& transfer, CompletionTarget target, bool immediate) noexcept;

/// The range in this process's segment that a peer's message names; ends the job if it is not
/// there. `what` says of whom it is the range: "a put".
std::byte* own_range(gex_Token_t token, std::uint64_t address, std::size_t size,
                     const char* what) noexcept;

void start_reference();

}  // namespace gex::rma
