#pragma once
// The grammar of variables' values: one parser for each type (env.h), and those that the tools
// interface has besides. Blanks around a value are ignored; what is malformed parses to nullopt.

#include <cstdint>
#include <optional>
#include <string_view>

namespace gex::env {

/// The text without blanks at either end.
inline std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// 0 1 n y no yes off on false true, any case.
std::optional<bool> parse_boolean(std::string_view text);

/// Decimal or 0x hexadecimal, with optional sign.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// A decimal number of seconds, not negative; fractions allowed.
std::optional<double> parse_seconds(std::string_view text);

/// Bytes: decimals and the suffixes B K M G T, KB.., KiB.. (all powers of 1024).
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A memory amount in GASNet's grammar: `256MB`, `128.0MB/P`, `0.5/H`, `0.85`.
/// /P: per process, /H: per host (divided among its processes). A bare number is per process; a
/// bare fraction below 1 is of physical memory and per host.
/// A number with a point and no unit is a fraction, and must be above 0 and below 1.
struct Memory {
  double amount;     ///< bytes, or the fraction when `is_fraction`
  bool is_fraction;  ///< of the host's physical memory
  bool per_host;     ///< to be divided by the processes of the host
  std::uint64_t bytes_per_process(std::uint64_t physical, std::uint32_t processes) const noexcept;
};
std::optional<Memory> parse_memory(std::string_view text);

}  // namespace gex::env
