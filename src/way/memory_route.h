#pragma once
// Which way does it go, of memory of other kinds than the host's: how this process's puts and gets
// reach the segments that such memory is published for, and why not in a better way.
//
// Each publication notes it again for its segments. It is printed with GEX_VERBOSE=1, read by
// `gexinfo --pairs`, and GEX_REQUIRE ends the job where it is another than the user lists
// ("cuda:ipc").
//
// Thread rules: any.

#include <gasnetex.h>
#include <gex/plugin/conduit.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gex {

/// How one segment is reached.
struct MemoryRoute {
  gex_Rank_t owner;               ///< jobrank
  net::MemoryClass memory_class;  ///< of the segment; not the host's
  std::uint64_t device;           ///< as its owner counts
  std::string way;       ///< "own memory", "ipc descriptor", "ipc handle", "native ofi", "messages"
  std::string reason{};  ///< of messages: why they carry it
};

/// A segment was published for the endpoint of that address (core/endpoint_address.h). Ends the job
/// in one line if GEX_REQUIRE does not accept the route.
void note_route(unsigned endpoint_address, MemoryRoute route);

/// The routes of all endpoints, the latest of each.
std::vector<MemoryRoute> memory_routes();

/// Ends the job in one line if GEX_REQUIRE lists ways of memory of that class, of which this
/// process has none for that reason.
void require_memory(net::MemoryClass which, const std::string& why);

}  // namespace gex
