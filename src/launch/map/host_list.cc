#include "launch/map/host_list.h"

#include <algorithm>
#include <charconv>

#include "job/limits.h"

namespace gex::launch {

namespace {

constexpr std::size_t max_hosts = job::max_ranks;

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
  return error == std::errc() && rest == text.end();
}

/// Removes and returns what comes before the separator, or all that is left.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// Adds the numbers of "001-004", or of "7", with their leading zeros.
bool add_range(std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view first_text = range.substr(0, dash);
  const std::string_view last_text = dash == range.npos ? range : range.substr(dash + 1);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (!parse_number(first_text, first) || !parse_number(last_text, last) || last < first)
    return false;
  if (last - first >= max_hosts - std::min(numbers.size(), max_hosts)) return false;
  for (std::uint64_t number = first; number <= last; ++number) {
    const std::string digits = std::to_string(number);
    numbers.push_back(
        std::string(first_text.size() - std::min(first_text.size(), digits.size()), '0') + digits);
  }
  return true;
}

/// Appends each of the ends to each of the names.
bool combine(std::vector<std::string>& names, const std::vector<std::string>& ends) {
  if (names.size() * ends.size() > max_hosts) return false;
  std::vector<std::string> combined;
  for (const std::string& name : names)
    for (const std::string& end : ends) combined.push_back(name + end);
  names = std::move(combined);
  return true;
}

/// Adds the names of one entry, as "r[1-2]n[01-03]".
bool add_names(std::string_view entry, std::vector<std::string>& hosts) {
  std::vector<std::string> names{""};
  while (!entry.empty()) {
    const std::size_t open = std::min(entry.find('['), entry.size());
    if (!combine(names, {std::string(entry.substr(0, open))})) return false;
    entry.remove_prefix(open);
    if (entry.empty()) break;
    const std::size_t close = entry.find(']');
    if (close == entry.npos) return false;
    std::string_view ranges = entry.substr(1, close - 1);
    entry.remove_prefix(close + 1);
    std::vector<std::string> numbers;
    while (!ranges.empty())
      if (!add_range(take_part(ranges, ','), numbers)) return false;
    if (!combine(names, numbers)) return false;
  }
  const bool named = std::none_of(names.begin(), names.end(), [](const std::string& name) {
    return name.empty() || name.find(']') != name.npos;
  });
  if (!named || names.empty() || hosts.size() + names.size() > max_hosts) return false;
  hosts.insert(hosts.end(), names.begin(), names.end());
  return true;
}

/// Removes and returns the first entry of a list in which commas may stand within brackets.
std::string_view take_entry(std::string_view& list) {
  std::size_t end = 0;
  for (bool inside = false; end < list.size() && (inside || list[end] != ','); ++end)
    inside = list[end] == '[' || (inside && list[end] != ']');
  const std::string_view entry = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return entry;
}

}  // namespace

std::optional<std::vector<std::string>> expand_host_list(std::string_view list) {
  std::vector<std::string> hosts;
  while (!list.empty())
    if (!add_names(take_entry(list), hosts)) return std::nullopt;
  return hosts.empty() ? std::nullopt : std::optional(std::move(hosts));
}

std::optional<std::vector<std::uint32_t>> expand_counts(std::string_view list) {
  std::vector<std::uint32_t> counts;
  while (!list.empty()) {
    std::string_view times = take_part(list, ',');
    const std::string_view number = take_part(times, '(');
    std::uint32_t count = 0;
    std::uint32_t repeated = 1;
    if (!times.empty() && (!times.starts_with('x') || !times.ends_with(')') ||
                           !parse_number(times.substr(1, times.size() - 2), repeated)))
      return std::nullopt;
    if (!parse_number(number, count) || repeated > max_hosts - std::min(counts.size(), max_hosts))
      return std::nullopt;
    counts.insert(counts.end(), repeated, count);
  }
  return counts.empty() ? std::nullopt : std::optional(std::move(counts));
}

}  // namespace gex::launch
