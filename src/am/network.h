#pragma once
// Active messages over a conduit: credits, delivery. Their format is that of wire.h.
//
// A process keeps at most `reply_depth` requests to one peer unanswered (credits.h); a reply gives
// one credit back, and requests that end without one give theirs back on whatever goes to the
// requester next, or in a message of their own once half of its share is owed. Where a network has
// no room for as many from all peers at a time, some of them are lent (lender.h).

#include <gasnetex.h>
#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>

#include "am/outbound.h"
#include "core/progress.h"

namespace gex::am {

/// Start-up only; does nothing without a conduit.
void set_up_network();

/// Largest payload of a medium, of a long message; 0 without a conduit.
std::size_t network_medium_limit() noexcept;
std::size_t network_long_limit(bool is_reply) noexcept;
/// The largest that goes with a long message; a request's may go ahead of it (rma/long_message.h).
std::size_t network_packed_limit() noexcept;

/// send_request to a process beyond the neighborhood.
int send_request_over_network(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept;

/// A buffer of the conduit's for a payload of `size` bytes to a process beyond the neighborhood,
/// from which sending it takes no copy; or null, and the payload is built elsewhere. A request's
/// takes the request's credit. A message with `in_conduit_buffer` set gives it back, or
/// `end_building`. Never waits.
void* begin_building(gex_Rank_t jobrank, bool is_reply, std::size_t size) noexcept;
/// Gives the buffer back, and the credit: its message is not sent.
void end_building(gex_Rank_t jobrank, bool is_reply, void* buffer) noexcept;

/// Sends a reply; waits for the conduit, polling replies only, if it must.
void send_reply_over_network(gex_Rank_t jobrank, const Outbound& message) noexcept;

/// `Host::deliver`: checks what arrived and runs its handler. What is malformed, or fits nothing
/// here, ends the job.
void deliver_from_network(std::uint32_t source, net::Channel channel, const void* message,
                          std::size_t size);

/// The handler of a message that was set aside has returned. `unanswered`: it was a request, and
/// has ended without a reply. Client context.
void network_message_handled(const MessageHeader& header, bool unanswered) noexcept;

/// Polls both channels, and sends deferred credit updates; for that it may wait for the conduit,
/// polling replies only. Client context.
bool poll_network() noexcept;

/// As `poll_network`, of the progress thread, which leaves messages of the client's to its threads.
/// Does nothing if those have polled since its last call.
Served serve_network() noexcept;

}  // namespace gex::am
