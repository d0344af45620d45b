#include "launch/map/host_slots.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/os_address.h"
#include "base/os_file.h"
#include "job/limits.h"

namespace gex::launch {

namespace {

/// Adds a host with the number of slots that the text has; false if either is invalid.
bool add(std::string_view name, std::string_view slots, std::vector<HostSlots>& hosts) {
  std::uint32_t count = 0;
  const auto [rest, error] = std::from_chars(slots.begin(), slots.end(), count);
  return error == std::errc() && rest == slots.end() && add_host(name, count, hosts);
}

/// An entry has one of these mistakes.
enum class Mistake : std::uint8_t { none, form, ambiguous };

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// The name without the brackets that may stand around an address, also behind "USER@".
std::string without_brackets(std::string_view name) {
  const std::size_t open = name.starts_with('[') ? 0 : name.find("@[") + 1;
  if (!name.ends_with(']') || (open == 0 && !name.starts_with('['))) return std::string(name);
  return std::string(name.substr(0, open)) +
         std::string(name.substr(open + 1, name.size() - open - 2));
}

Mistake add_entry(std::string_view entry, std::vector<HostSlots>& hosts) {
  const std::size_t colon = entry.rfind(':');
  const std::string_view before = entry.substr(0, colon);
  const std::string_view after = colon == entry.npos ? "" : entry.substr(colon + 1);
  // In an address without brackets the last colon may be the address's own.
  const std::string_view address = entry.substr(entry.find('@') + 1);
  const bool whole = os::is_ipv6_address(address);
  if (whole && is_number(after) && os::is_ipv6_address(before.substr(entry.find('@') + 1)))
    return Mistake::ambiguous;
  const bool with_slots = colon != entry.npos && !whole && !entry.ends_with(']');
  const std::string name = without_brackets(with_slots ? before : entry);
  // A colon is left in addresses only.
  const std::string_view host = std::string_view(name).substr(name.find('@') + 1);
  if (host.find(':') != host.npos && !os::is_ipv6_address(host)) return Mistake::form;
  return add(name, with_slots ? after : "1", hosts) ? Mistake::none : Mistake::form;
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Takes the next KEY=NUMBER, around whose sign there may be blanks; false: there is none.
bool take_setting(std::string_view& text, std::string_view& key, std::string_view& number) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) return false;
  key = trimmed(text.substr(0, sign));
  text = trimmed(text.substr(sign + 1));
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  number = text.substr(0, end);
  text = trimmed(text.substr(end));
  return is_number(number);
}

/// Other launchers' files may have the most slots as well, which libgex never exceeds the slots
/// for.
Mistake add_line(std::string_view line, std::vector<HostSlots>& hosts) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return Mistake::none;
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == line.npos) return add_entry(line, hosts);
  const std::string name = without_brackets(line.substr(0, blank));
  std::string_view settings = trimmed(line.substr(blank)), slots, key, number;
  while (!settings.empty()) {
    if (!take_setting(settings, key, number)) return Mistake::form;
    if (key == "slots")
      slots = number;
    else if (key != "max_slots" && key != "max-slots")
      return Mistake::form;
  }
  return add(name, slots.empty() ? "1" : slots, hosts) ? Mistake::none : Mistake::form;
}

std::string describe(Mistake mistake, std::string_view entry, const char* forms) {
  const std::string text = in_quotes(entry) + " ";
  if (mistake == Mistake::form) return text + "is neither " + forms;
  const std::string name(entry.substr(0, entry.rfind(':')));
  return text + "may be an address, or an address and slots: write [" + std::string(entry) +
         "] or [" + name + "]" + std::string(entry.substr(name.size()));
}

}  // namespace

bool add_host(std::string_view name, std::uint32_t slots, std::vector<HostSlots>& hosts) {
  if (slots > job::max_ranks) return false;
  // ssh would parse a name that begins with a dash as an option.
  if (name.empty() || name.front() == '-') return false;
  // A file of something else, as of a program, has bytes that no name has.
  const auto is_of_name = [](char one) {
    return static_cast<unsigned char>(one) > ' ' && one != 0x7f;
  };
  if (!std::all_of(name.begin(), name.end(), is_of_name)) return false;
  if (slots == 0) return true;
  const auto same = [name](const HostSlots& host) { return host.name == name; };
  // A list of a host's slots has them one after the other.
  const auto found = std::find_if(hosts.rbegin(), hosts.rend(), same);
  if (found != hosts.rend())
    found->slots += slots;
  else
    hosts.push_back({std::string(name), slots});
  return true;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t max_shown = 60;
  std::string result = "'";
  for (const char one : text.substr(0, max_shown))
    result += static_cast<unsigned char>(one) < ' ' || one == 0x7f ? '?' : one;
  return result + (text.size() > max_shown ? "...'" : "'");
}

std::string add_hosts(std::string_view list, std::vector<HostSlots>& hosts) {
  const std::string_view all = list;
  const std::uint64_t before = slots_of(hosts);
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string_view entry = trimmed(list.substr(0, comma));
    if (const Mistake mistake = add_entry(entry, hosts); mistake != Mistake::none)
      return describe(mistake, entry, "NAME nor NAME:SLOTS");
    if (comma == list.npos)
      return slots_of(hosts) == before ? in_quotes(all) + " has no slots" : "";
    list.remove_prefix(comma + 1);
  }
}

std::string add_hosts_of_file(const std::string& path, std::vector<HostSlots>& hosts) {
  const auto text = os::read_file(path);
  if (!text) return "cannot read '" + path + "': " + std::strerror(errno);
  std::string_view rest = *text;
  // Some editors put this mark of UTF-8 first.
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  const std::uint64_t before = slots_of(hosts);
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (const Mistake mistake = add_line(line, hosts); mistake != Mistake::none) {
      return path + ", line " + std::to_string(number) + ": " +
             describe(mistake, trimmed(line), "NAME, NAME:SLOTS nor NAME slots=SLOTS");
    }
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return slots_of(hosts) == before ? "'" + path + "' names no host with a slot" : "";
}

std::uint64_t slots_of(const std::vector<HostSlots>& hosts) {
  std::uint64_t slots = 0;
  for (const HostSlots& host : hosts) slots += host.slots;
  return slots;
}

job::HostParts place(std::uint32_t ranks, const std::vector<HostSlots>& hosts, Map map) {
  job::HostParts parts;
  while (parts.ranks() < ranks) {
    for (std::uint32_t host = 0; host < hosts.size() && parts.ranks() < ranks; ++host) {
      // On the first turn the hosts before this one have got a rank each, so the order is kept.
      if (host == parts.size()) parts.add(hosts[host].name);
      std::uint32_t count =
          std::min(hosts[host].slots - parts[host].ranks.size(), ranks - parts.ranks());
      if (map == Map::cyclic) count = std::min(count, 1U);
      for (; count > 0; --count) parts.place_next(host);
    }
  }
  return parts;
}

}  // namespace gex::launch
