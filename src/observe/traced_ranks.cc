#include "observe/traced_ranks.h"

#include <charconv>

#include "base/number_ranges.h"

namespace gex::trace {

namespace {

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
  const auto is_last = [&] {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end && number != 0;
  };
  if (take(text, "every:")) return is_last() ? std::optional(rank % number == 0) : std::nullopt;
  if (take(text, "hosts:")) return is_last() ? std::optional(host < number) : std::nullopt;
  bool named = false;
  const bool is_list = for_each_range(text, [&](std::uint32_t first, std::uint32_t last) {
    named = named || (first <= rank && rank <= last);
    return true;
  });
  return is_list ? std::optional(named) : std::nullopt;
}

}  // namespace gex::trace
