#pragma once
// The choices that udp would make on this machine, or has made, for gexinfo and the choice of a
// network.

#include <gex/plugin/conduit.h>

#include <string>

#include "net/address.h"

namespace gex::net::udp {

/// As Conduit::describe.
void describe(const Host& host, void (*fact)(void* context, const char* name, const char* text),
              void* context);

/// As Conduit::standing.
Standing standing(const Host& host, bool several_hosts,
                  void (*reason)(void* context, const char* text), void* context);

/// "eth0 ipv4": a rank's way to all its peers, as Conduit::transport has it.
std::string way_name(const Address& address, const std::string& interface);

}  // namespace gex::net::udp
