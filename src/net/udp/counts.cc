#include "net/udp/counts.h"

namespace gex::net::udp {

void add(EndpointCounts& to, const EndpointCounts& more) noexcept {
  to.sent += more.sent;
  to.sent_again += more.sent_again;
  to.timeouts += more.timeouts;
  to.received += more.received;
  to.duplicates += more.duplicates;
  to.unauthenticated += more.unauthenticated;
  to.malformed += more.malformed;
  to.refused += more.refused;
  to.moved += more.moved;
}

void add(SocketCounts& to, const SocketCounts& more) noexcept {
  to.refused += more.refused;
  to.overflowed += more.overflowed;
}

std::string text_of(const EndpointCounts& counts, const SocketCounts& system) {
  if (counts.sent == 0 && counts.received == 0 && system.refused == 0 && system.overflowed == 0)
    return {};
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  return number(counts.sent) + " datagrams sent, " + number(counts.sent_again) +
         " of them again (" + number(counts.timeouts) + " after a timeout); " +
         number(counts.received) + " received: " + number(counts.duplicates) +
         " repeated or replayed, " + number(counts.unauthenticated) +
         " not of this connection or changed on their way, " + number(counts.malformed) +
         " malformed, " + number(counts.refused) + " without room, " + number(counts.moved) +
         " from a new address; the system dropped " + number(system.overflowed) +
         " for which the receive buffer had no room, and could not send " + number(system.refused);
}

}  // namespace gex::net::udp
