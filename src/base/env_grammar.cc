#include "base/env_grammar.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace gex::env {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// Independent of the locale, unlike the C library's.
char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

/// A number without sign or exponent at the start of `text`, which loses it: `8`, `8.`, `.5`,
/// `8.25`.
struct Decimal {
  std::string_view digits;
  bool has_point = false;

  std::optional<double> as_double() const noexcept {
    double value = 0;
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
    return value;
  }
};

std::optional<Decimal> take_decimal(std::string_view& text) noexcept {
  std::size_t end = 0, digits = 0;
  bool has_point = false;
  for (; end < text.size() && (is_digit(text[end]) || (text[end] == '.' && !has_point)); ++end) {
    if (text[end] == '.') {
      has_point = true;
    } else {
      ++digits;
    }
  }
  if (digits == 0) return std::nullopt;
  const Decimal decimal{text.substr(0, end), has_point};
  text.remove_prefix(end);
  return decimal;
}

/// The power of two that a unit stands for: 0 for B or nothing, 10 for K, KB, KiB and so on.
std::optional<unsigned> unit_shift(std::string_view unit) noexcept {
  if (unit.empty() || equal_ignoring_case(unit, "b")) return 0;
  static constexpr std::string_view letters = "kmgt";
  const std::size_t letter = letters.find(lower(unit[0]));
  if (letter == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && !equal_ignoring_case(rest, "b") && !equal_ignoring_case(rest, "ib")) {
    return std::nullopt;
  }
  return static_cast<unsigned>(10 * (letter + 1));
}

std::optional<std::uint64_t> whole(std::string_view digits, int base) noexcept {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<bool> parse_boolean(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view word : {"1", "y", "yes", "on", "true"}) {
    if (equal_ignoring_case(text, word)) return true;
  }
  for (const std::string_view word : {"0", "n", "no", "off", "false"}) {
    if (equal_ignoring_case(text, word)) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trimmed(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  const std::optional<std::uint64_t> magnitude = whole(text, base);
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!magnitude || *magnitude > largest + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
}

std::optional<double> parse_seconds(std::string_view text) {
  text = trimmed(text);
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal || !text.empty()) return std::nullopt;
  return decimal->as_double();
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  text = trimmed(text);
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal) return std::nullopt;
  const std::optional<unsigned> shift = unit_shift(trimmed(text));
  if (!shift) return std::nullopt;
  if (!decimal->has_point) {
    const std::optional<std::uint64_t> units = whole(decimal->digits, 10);
    if (!units || *units > std::numeric_limits<std::uint64_t>::max() >> *shift) return std::nullopt;
    return *units << *shift;
  }
  const std::optional<double> units = decimal->as_double();
  if (!units) return std::nullopt;
  const double bytes = std::floor(std::ldexp(*units, static_cast<int>(*shift)));
  // A part of a byte is a unit forgotten, and so is what rounds down to nothing.
  if (bytes >= 0x1p64 || (*shift == 0 && bytes != *units) || (bytes == 0 && *units != 0)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

std::optional<Memory> parse_memory(std::string_view text) {
  text = trimmed(text);
  std::optional<bool> per_host;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view scope = trimmed(text.substr(slash + 1));
    if (equal_ignoring_case(scope, "h")) {
      per_host = true;
    } else if (equal_ignoring_case(scope, "p")) {
      per_host = false;
    } else {
      return std::nullopt;
    }
    text = trimmed(text.substr(0, slash));
  }

  std::string_view rest = text;
  const std::optional<Decimal> decimal = take_decimal(rest);
  if (decimal && decimal->has_point && rest.empty()) {
    const std::optional<double> fraction = decimal->as_double();
    if (!fraction || *fraction <= 0 || *fraction >= 1) return std::nullopt;
    return Memory{*fraction, true, per_host.value_or(true)};
  }
  const std::optional<std::uint64_t> bytes = parse_size(text);
  if (!bytes) return std::nullopt;
  return Memory{static_cast<double>(*bytes), false, per_host.value_or(false)};
}

std::uint64_t Memory::bytes_per_process(std::uint64_t physical,
                                        std::uint32_t processes) const noexcept {
  double bytes = is_fraction ? amount * static_cast<double>(physical) : amount;
  if (per_host && processes > 1) bytes /= processes;
  return bytes >= 0x1p64 ? std::numeric_limits<std::uint64_t>::max()
                         : static_cast<std::uint64_t>(bytes);
}

}  // namespace gex::env
