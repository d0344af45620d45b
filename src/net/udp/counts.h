#pragma once
// Counts of a rank's datagrams, for people: a line of it is printed with GEX_VERBOSE=1
// when the rank ends.

#include <cstdint>
#include <string>

#include "net/udp/socket.h"

namespace gex::net::udp {

struct EndpointCounts {
  std::uint64_t sent = 0;  ///< datagrams that the system has taken
  std::uint64_t sent_again = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t received = 0;         ///< datagrams, all of the following among them
  std::uint64_t duplicates = 0;       ///< copies, and what their sender has repeated
  std::uint64_t unauthenticated = 0;  ///< not of this connection, or changed on their way
  std::uint64_t malformed = 0;        ///< of a peer, but not what it may send
  std::uint64_t refused = 0;          ///< for lack of room
  std::uint64_t moved = 0;            ///< peers whose address has changed
};

/// Adds the counts of another lane.
void add(EndpointCounts& to, const EndpointCounts& more) noexcept;
void add(SocketCounts& to, const SocketCounts& more) noexcept;

/// One line; empty if nothing was sent or received.
std::string text_of(const EndpointCounts& counts, const SocketCounts& system);

}  // namespace gex::net::udp
