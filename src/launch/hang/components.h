#pragma once
// Vertices of a graph that wait for one another.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace gex::launch {

/// A vertex waits for each of these.
using Edges = std::map<std::uint32_t, std::set<std::uint32_t>>;

/// The strongly connected components of more than one vertex, and the vertices that wait for
/// themselves; each sorted. Vertices without edges of their own need no entry.
std::vector<std::vector<std::uint32_t>> components_of(const Edges& edges);

}  // namespace gex::launch
