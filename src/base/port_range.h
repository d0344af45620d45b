#pragma once
// A range of ports that a user allows, as a firewall has it.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/env_grammar.h"

namespace gex {

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

/// Parses "PORT" or "FIRST-LAST", without blanks at either end; empty if the text is neither,
/// names port 0, or has no port.
inline std::optional<PortRange> parse_port_range(std::string_view text) noexcept {
  const auto port = [](std::string_view digits) noexcept {
    std::uint16_t number = 0;
    const auto [rest, error] = std::from_chars(digits.begin(), digits.end(), number);
    return error == std::errc() && rest == digits.end() ? number : std::uint16_t{0};
  };
  text = env::trimmed(text);
  const std::size_t dash = text.find('-');
  PortRange range;
  range.first = port(text.substr(0, dash));
  range.last = dash == text.npos ? range.first : port(text.substr(dash + 1));
  if (range.first == 0 || range.last < range.first) return std::nullopt;
  return range;
}

}  // namespace gex
