#pragma once
// Files that ranks of this process share: each is mapped once, as a whole.

#include <cstddef>
#include <cstdint>

namespace gex::sim {

/// As Services has them. Any thread.
std::byte* map_file(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept;
bool has_mapped(const void* address) noexcept;

}  // namespace gex::sim
