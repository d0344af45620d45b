#include "observe/traced_ranks.h"

#include <charconv>

namespace gex::trace {

namespace {

/// Takes a number off the front of a text; false if there is none.
bool take_number(std::string_view& text, std::uint32_t& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view word) noexcept {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::optional<bool> names_rank(std::string_view text, std::uint32_t rank,
                               std::uint32_t host) noexcept {
  if (text.empty()) return true;
  std::uint32_t number = 0;
  const auto is_last = [&] { return take_number(text, number) && text.empty() && number != 0; };
  if (take(text, "every:")) return is_last() ? std::optional(rank % number == 0) : std::nullopt;
  if (take(text, "hosts:")) return is_last() ? std::optional(host < number) : std::nullopt;
  bool named = false;
  do {
    if (!take_number(text, number)) return std::nullopt;
    std::uint32_t last = number;
    if (take(text, "-") && (!take_number(text, last) || last < number)) return std::nullopt;
    named = named || (number <= rank && rank <= last);
  } while (take(text, ","));
  return text.empty() ? std::optional(named) : std::nullopt;
}

}  // namespace gex::trace
