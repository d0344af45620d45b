#pragma once
// Bytes as text, two digits each.

#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gex {

inline std::string hex(std::span<const std::byte> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[static_cast<unsigned>(byte) >> 4];
    text += digits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

/// Takes the text of exactly as many bytes; false if it is anything else.
inline bool from_hex(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    const char* const at = text.data() + 2 * i;
    if (std::from_chars(at, at + 2, value, 16).ptr != at + 2) return false;
    bytes[i] = static_cast<std::byte>(value);
  }
  return true;
}

}  // namespace gex
