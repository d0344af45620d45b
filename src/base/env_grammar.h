#pragma once
// Parts of the grammar of values that env.cc and the parsers share.

#include <optional>
#include <string_view>

namespace gex::env {

/// The text without blanks at either end.
std::string_view trimmed(std::string_view text) noexcept;

/// A decimal number of seconds, not negative; fractions allowed.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace gex::env
