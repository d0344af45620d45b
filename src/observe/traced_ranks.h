#pragma once
// The ranks that GEX_TRACE_RANKS names: of a large job a sample.
//
//     0-3,64      these
//     every:100   0, 100, 200, ...
//     hosts:4     those of the first four hosts

#include <cstdint>
#include <optional>
#include <string_view>

namespace gex::trace {

/// Returns true if a rank of that host (numbered from 0) is named; nothing if the text names no
/// ranks. An empty text names all.
std::optional<bool> names_rank(std::string_view text, std::uint32_t rank,
                               std::uint32_t host) noexcept;

}  // namespace gex::trace
