#pragma once
// How many ranks share a host, how many threads of a rank can communicate at once, and over how
// many connections.

#include <gex/plugin/conduit.h>

#include <cstdint>

namespace gex::net {

/// The ranks of this host that are below `end`.
std::uint32_t ranks_here(const Host& host, std::uint32_t end);

/// Processors on which the threads of this rank may run at once; at least 1.
std::uint32_t processors_of_rank(const Host& host);

/// Connections that a process may have to each peer, going by the files that it may have open; at
/// least 1.
std::uint32_t possible_connections(const Host& host);

}  // namespace gex::net
