// Environment of gasnet_tools.h: the grammars of base/env.h for variables that clients name.

#include <gex/tools_env.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/env_grammar.h"
#include "base/error.h"

namespace {

using gex::env::trimmed;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void malformed(const char* key, const std::string& text, const char* expected) {
  gex::fatal("%s='%s' is not understood: expected %s", key, text.c_str(), expected);
}

/// Takes a sign off the front of `text`; true if it was a minus.
bool take_sign(std::string_view& text) noexcept {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  return negative;
}

/// A finite decimal number without sign, exponent allowed.
std::optional<double> magnitude(std::string_view text) noexcept {
  // from_chars would take "inf" and "nan", and a second sign.
  if (text.empty() || (text[0] != '.' && (text[0] < '0' || text[0] > '9'))) return std::nullopt;
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) noexcept {
  text = trimmed(text);
  const bool negative = take_sign(text);
  const std::optional<double> value = magnitude(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

/// A number, or two with a slash between.
std::optional<double> parse_fraction(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return parse_number(text);
  const std::optional<double> numerator = parse_number(text.substr(0, slash));
  const std::optional<double> denominator = parse_number(text.substr(slash + 1));
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  const double value = *numerator / *denominator;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

/// Bytes of a memory size without sign; without a unit it counts `multiplier` bytes each.
std::optional<std::uint64_t> parse_amount(std::string_view text, std::uint64_t multiplier) {
  if (text.empty()) return std::nullopt;
  const char last = text.back();
  if (last != '.' && (last < '0' || last > '9')) return gex::env::parse_size(text);
  if (text.find('.') == std::string_view::npos) {
    const std::optional<std::uint64_t> units = gex::env::parse_size(text);
    std::uint64_t bytes = 0;
    if (!units || __builtin_mul_overflow(*units, multiplier, &bytes)) return std::nullopt;
    return bytes;
  }
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const std::optional<double> units = magnitude(text);
  if (!units) return std::nullopt;
  const double bytes = std::floor(*units * static_cast<double>(multiplier));
  // A part of a byte is a unit forgotten.
  if (bytes >= 0x1p63 || (multiplier == 1 && bytes != *units)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<std::int64_t> parse_memory_size(std::string_view text, std::uint64_t multiplier) {
  text = trimmed(text);
  const bool negative = take_sign(text);
  const std::optional<std::uint64_t> bytes = parse_amount(text, multiplier);
  if (!bytes || *bytes > static_cast<std::uint64_t>(largest) + (negative ? 1 : 0)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(negative ? 0 - *bytes : *bytes);
}

std::optional<std::int64_t> parse(std::string_view text, std::uint64_t multiplier) {
  return multiplier == 0 ? gex::env::parse_integer(text) : parse_memory_size(text, multiplier);
}

const char* expectation(std::uint64_t multiplier) noexcept {
  return multiplier == 0 ? "a whole number, decimal or 0x hexadecimal"
                         : "a memory size, such as 65536, 64KB or 1.5M";
}

}  // namespace

char* gasnett_getenv(const char* key) {
  return std::getenv(key);
}

char* gasnett_getenv_withdefault(const char* key, const char* default_value) {
  char* set = gex::env::value(key) ? std::getenv(key) : nullptr;
  gasnett_envstr_display(key, set != nullptr ? set : default_value, set == nullptr);
  return set != nullptr ? set : const_cast<char*>(default_value);
}

int gasnett_getenv_yesno_withdefault(const char* key, int default_value) {
  int result = default_value;
  const std::optional<std::string> set = gex::env::value(key);
  if (set) {
    const std::optional<bool> value = gex::env::parse_boolean(*set);
    if (!value) malformed(key, *set, "1, 0, yes, no, y, n, on, off, true or false");
    result = *value ? 1 : 0;
  }
  gasnett_envstr_display(key, result != 0 ? "YES" : "NO", !set);
  return result;
}

std::int64_t gasnett_getenv_int_withdefault(const char* key, std::int64_t default_value,
                                            std::uint64_t mem_size_multiplier) {
  std::int64_t result = default_value;
  const std::optional<std::string> set = gex::env::value(key);
  if (set) {
    const std::optional<std::int64_t> value = parse(*set, mem_size_multiplier);
    if (!value) malformed(key, *set, expectation(mem_size_multiplier));
    result = *value;
  }
  gasnett_envint_display(key, result, !set, mem_size_multiplier != 0);
  return result;
}

double gasnett_getenv_dbl_withdefault(const char* key, double default_value) {
  double result = default_value;
  const std::optional<std::string> set = gex::env::value(key);
  if (set) {
    const std::optional<double> value = parse_fraction(*set);
    if (!value) malformed(key, *set, "a number, such as 1.5, -1e4 or 3/8");
    result = *value;
  }
  gasnett_envdbl_display(key, result, !set);
  return result;
}

void gasnett_setenv(const char* key, const char* value) {
  if (::setenv(key, value, 1) != 0) gex::fatal_system("gasnett_setenv", errno);
}

void gasnett_unsetenv(const char* key) {
  if (::unsetenv(key) != 0) gex::fatal_system("gasnett_unsetenv", errno);
}

int gasnett_verboseenv() {
  return gex::env::verbose() ? 1 : 0;
}

void gasnett_envstr_display(const char* key, const char* value, int is_default) {
  gex::env::display(key, value != nullptr ? value : "(unset)", is_default != 0);
}

void gasnett_envint_display(const char* key, std::int64_t value, int is_default, int is_mem_size) {
  char text[32];
  gasnett_envstr_display(key, gasnett_format_number(value, text, sizeof text, is_mem_size),
                         is_default);
}

void gasnett_envdbl_display(const char* key, double value, int is_default) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  gasnett_envstr_display(key, text, is_default);
}

char* gasnett_format_number(std::int64_t value, char* buf, std::size_t size, int is_mem_size) {
  if (!is_mem_size) {
    std::snprintf(buf, size, "%lld", static_cast<long long>(value));
    return buf;
  }
  const std::uint64_t bytes =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  static constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  // Two decimals show it exactly if it is a multiple of a quarter of the unit: no other hundredth
  // of a power of two is a whole number of bytes. Above 2^53 a parser's floating point is not
  // exact.
  const unsigned fraction_bits = bytes < (std::uint64_t{1} << 53) ? 2 : 0;
  unsigned shift = 40;
  while (shift > 0 && ((bytes >> shift) == 0 ||
                       (bytes & ((std::uint64_t{1} << (shift - fraction_bits)) - 1)) != 0)) {
    shift -= 10;
  }
  static constexpr const char* quarters[] = {"", ".25", ".5", ".75"};
  const unsigned quarter = shift == 0 ? 0 : (bytes >> (shift - 2)) & 3;
  std::snprintf(buf, size, "%s%llu%s %s", value < 0 ? "-" : "",
                static_cast<unsigned long long>(bytes >> shift), quarters[quarter],
                units[shift / 10]);
  return buf;
}

std::int64_t gasnett_parse_int(const char* text, std::uint64_t mem_size_multiplier) {
  const std::optional<std::int64_t> value = parse(text, mem_size_multiplier);
  if (!value) malformed("gasnett_parse_int: text", text, expectation(mem_size_multiplier));
  return *value;
}
