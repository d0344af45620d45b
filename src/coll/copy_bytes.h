#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gex::coll {

/// Copies any number of bytes; one word, which they often are, without a call.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));
  else
    std::memcpy(to, from, bytes);
}

/// Copies bytes that may be in their place already.
inline void copy_unless_there(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (to != from) copy_bytes(to, from, bytes);
}

}  // namespace gex::coll
