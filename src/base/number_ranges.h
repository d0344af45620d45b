#pragma once
// Lists of numbers and ranges of them, "0-3,7", as options and variables have them.

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace gex {

/// Calls `take(first, last)` for each range of the list; of a number alone both are it. Returns
/// false if the text is no such list, perhaps after some calls, or if `take` does.
template <class Take>
bool for_each_range(std::string_view text, Take take) {
  const auto number = [&text](std::uint32_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  const auto skip = [&text](char separator) {
    const bool is_there = text.starts_with(separator);
    if (is_there) text.remove_prefix(1);
    return is_there;
  };
  do {
    std::uint32_t first = 0;
    if (!number(first)) return false;
    std::uint32_t last = first;
    if (skip('-') && (!number(last) || last < first)) return false;
    if (!take(first, last)) return false;
  } while (skip(','));
  return text.empty();
}

}  // namespace gex
