#include "net/udp/port_rule.h"

#include "base/env_grammar.h"
#include "base/number_ranges.h"
#include "base/os_file.h"

namespace gex::net::udp {

std::optional<PortRange> parse_system_ports(std::string_view text) noexcept {
  const std::string_view both = env::trimmed(text);
  const std::size_t blank = both.find_first_of(" \t");
  if (blank == both.npos) return std::nullopt;
  const auto first = parse_port_range(both.substr(0, blank));
  const auto last = parse_port_range(both.substr(blank));
  if (!first || !last || first->first != first->last || last->first != last->last ||
      last->last < first->first)
    return std::nullopt;
  return PortRange{first->first, last->last};
}

bool is_reserved(std::string_view list, std::uint16_t port) noexcept {
  const std::string_view ranges = env::trimmed(list);
  return !ranges.empty() &&
         !for_each_range(ranges, [port](std::uint32_t first, std::uint32_t last) {
           return port < first || port > last;
         });
}

std::optional<PortRange> system_ports() {
  return parse_system_ports(
      os::read_file("/proc/sys/net/ipv4/ip_local_port_range").value_or(std::string()));
}

std::string reserved_by_system() {
  return os::read_file("/proc/sys/net/ipv4/ip_local_reserved_ports").value_or(std::string());
}

}  // namespace gex::net::udp
