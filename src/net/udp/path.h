#pragma once
// How large the packets to a peer may be.

#include <cstddef>
#include <string>

#include "net/address.h"

namespace gex::net::udp {

/// Largest IP packet that the kernel sends from here to there now, from its route and what routers
/// have reported; that of Ethernet, if it has no route.
std::size_t path_mtu(const Address& from, const Address& to);

/// Largest IP packet of the interface that has this address; 0: there is none.
std::size_t interface_mtu(const Address& address);

/// The least that every path carries: 576 bytes of IPv4, 1280 of IPv6.
std::size_t least_mtu(int family) noexcept;

/// Why a path cannot be used whose interface takes less, in one line; empty: it takes that or more.
std::string why_too_narrow(const Address& from, const Address& to);

}  // namespace gex::net::udp
