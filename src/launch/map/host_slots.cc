#include "launch/map/host_slots.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "job/limits.h"

namespace gex::launch {

namespace {

/// Adds one host; returns false if it is invalid.
bool add(std::string_view name, std::string_view slots, std::vector<HostSlots>& hosts) {
  std::uint32_t count = 0;
  const auto [rest, error] = std::from_chars(slots.begin(), slots.end(), count);
  if (error != std::errc() || rest != slots.end() || count < 1 || count > job::max_ranks) {
    return false;
  }
  // ssh would parse a name that begins with a dash as an option.
  if (name.empty() || name.front() == '-' || name.find_first_of(" \t") != name.npos) return false;
  const auto same = [name](const HostSlots& host) { return host.name == name; };
  const auto found = std::find_if(hosts.begin(), hosts.end(), same);
  if (found != hosts.end()) {
    found->slots += count;
  } else {
    hosts.push_back({std::string(name), count});
  }
  return true;
}

bool add_entry(std::string_view entry, std::vector<HostSlots>& hosts) {
  const std::size_t colon = entry.find(':');
  if (colon == entry.npos) return add(entry, "1", hosts);
  return add(entry.substr(0, colon), entry.substr(colon + 1), hosts);
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool add_line(std::string_view line, std::vector<HostSlots>& hosts) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return true;
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == line.npos) return add_entry(line, hosts);
  constexpr std::string_view key = "slots=";
  const std::string_view slots = trimmed(line.substr(blank));
  return slots.starts_with(key) && add(line.substr(0, blank), slots.substr(key.size()), hosts);
}

}  // namespace

std::string add_hosts(std::string_view list, std::vector<HostSlots>& hosts) {
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string_view entry = list.substr(0, comma);
    if (!add_entry(entry, hosts)) {
      return "'" + std::string(entry) + "' is neither NAME nor NAME:SLOTS";
    }
    if (comma == list.npos) return {};
    list.remove_prefix(comma + 1);
  }
}

std::string add_hosts_of_file(const std::string& path, std::vector<HostSlots>& hosts) {
  std::ifstream file(path);
  if (!file) return "cannot read '" + path + "': " + std::strerror(errno);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!add_line(line, hosts)) {
      std::string why = path;
      why.append(", line ").append(std::to_string(number)).append(": '").append(line);
      return why.append("' is neither NAME, NAME:SLOTS nor NAME slots=SLOTS");
    }
  }
  return hosts.empty() ? "'" + path + "' names no host" : "";
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
