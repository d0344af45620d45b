#pragma once
// The end of the job in one line.

#include <gex/plugin/conduit.h>
namespace gex::net {

[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void fatal(const Host& host, const char* format,
                                                              ...);

/// Ends the job because a peer cannot be reached: see Host::lost_peer.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void lost_peer(const Host& host,
                                                                  const char* format, ...);

}  // namespace gex::net
