#pragma once

#include <cstdint>

namespace gex::launch {

/// The kind of binding: none, the r-th rank of a host to its r-th processor, or each rank to an
/// equal share of the processors.
enum class Bind : std::uint8_t { none, core, share };

}  // namespace gex::launch
