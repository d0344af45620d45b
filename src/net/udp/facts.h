#pragma once
// What udp would choose on this machine, and what it has chosen, for gexinfo and the choice of a
// network.

#include <gex/plugin/conduit.h>

#include <string>

#include "net/udp/path.h"

namespace gex::net::udp {

/// As Conduit::describe.
void describe(const Host& host, void (*fact)(void* context, const char* name, const char* text),
              void* context);

/// As Conduit::standing.
Standing standing(const Host& host, bool several_hosts,
                  void (*reason)(void* context, const char* text), void* context);

/// A rank's way to all its peers, as Conduit::transport has it.
struct Way {
  std::string name;    ///< "eth0 ipv4"
  std::string reason;  ///< "10.0.0.5, in the subnet in which the most hosts have an address"
};
Way way_over(const Address& address, const Wish& wish);

}  // namespace gex::net::udp
