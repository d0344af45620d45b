#pragma once
// The conduit `udp`: reliable messages, puts and gets over datagrams, between any hosts that reach
// one another by IP.

#include <gex/plugin/conduit.h>

namespace gex::net::udp {

const Conduit& conduit() noexcept;

}  // namespace gex::net::udp
