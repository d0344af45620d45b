#pragma once
// Put and get made of active messages, for any conduit and for memory of neighbors that is not
// mapped here.
//
// A transfer is cut into messages of the size that its peer takes. Each part adds one to the
// completion target, `done`, when it is done: for a put when the peer has acknowledged it, for a
// get when its data has been written. The payload of a put is copied when its message is sent, so a
// put is locally complete as soon as it has been injected. Messages carry `done` there and back: no
// record is kept of a transfer, as networks keep one for theirs (net/kit/message_transfers.h).

#include "am/internal.h"
#include "core/initiate.h"
#include "core/thread.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Number of parts, hence of completions, of a transfer that is not empty.
std::uint32_t message_parts_of(const ResolvedTransfer& transfer) noexcept;

/// Bytes of the part that starts at `offset`.
std::size_t part_size(const ResolvedTransfer& transfer, std::size_t offset) noexcept;

/// Injects all parts; none if `immediate` and the first found no room. Once the first is under way
/// the others, if `immediate`, are sent by polls where there is no room for them now; else they
/// wait for it, polling.
Injected put_by_messages(const ResolvedTransfer& transfer, CompletionTarget done,
                         bool immediate) noexcept;
Injected get_by_messages(const ResolvedTransfer& transfer, CompletionTarget done,
                         bool immediate) noexcept;

/// Injects the part of a put that starts at `offset`; its size, or 0 if `immediate` and there was
/// no room.
std::size_t put_part(const ResolvedTransfer& transfer, std::size_t offset, CompletionTarget done,
                     bool immediate) noexcept;

/// Injects that part with its bytes at `from`, in the host's memory.
std::size_t put_part_from(const ResolvedTransfer& transfer, std::size_t offset, const void* from,
                          CompletionTarget done, bool immediate) noexcept;

/// The segment bound to the endpoint that a message is for; null: there is none.
gex_Segment_t segment_of_receiver(gex_Token_t token) noexcept;
/// The range in this process's segment that a peer's message names; ends the job if it is not
/// there. `what` names the operation for the message: "a put".
std::byte* own_range(gex_Token_t token, std::uint64_t address, std::size_t size,
                     const char* what) noexcept;

/// Acknowledges the request that `token` names: completes one part of `done` at its sender.
void reply_done(gex_Token_t token, am::Wide done) noexcept;

void start_messages();

}  // namespace gex::rma
