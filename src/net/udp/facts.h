#pragma once
// What udp would choose on this machine, for gexinfo.

#include <gex/plugin/conduit.h>

namespace gex::net::udp {

/// As Conduit::describe.
void describe(const Host& host, void (*fact)(void* context, const char* name, const char* text),
              void* context);

}  // namespace gex::net::udp
