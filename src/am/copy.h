#pragma once
// Copies of what travels in cells and slots: few bytes, where a call would cost more than the copy.

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace gex::am {

/// Copies whole 16-byte chunks, the last one past `bytes` if need be: both sides have room for it.
inline void copy_chunks(void* to, const void* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += 16)
    std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, 16);
}

/// Copies exactly `bytes`, which are few: pieces of 16 of which the last two may overlap.
inline void copy_few(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const auto ends = [=](auto size) {
    std::memcpy(target, source, size);
    std::memcpy(target + bytes - size, source + bytes - size, size);
  };
  if (bytes >= 16) {
    copy_chunks(target, source, (bytes - 1) & ~std::size_t{15});
    std::memcpy(target + bytes - 16, source + bytes - 16, 16);
  } else if (bytes >= 8) {
    ends(std::integral_constant<std::size_t, 8>());
  } else if (bytes >= 4) {
    ends(std::integral_constant<std::size_t, 4>());
  } else if (bytes != 0) {
    target[0] = source[0];
    target[bytes / 2] = source[bytes / 2];
    target[bytes - 1] = source[bytes - 1];
  }
}

}  // namespace gex::am
