#include "base/os_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>

namespace gex::os {

bool is_ipv6_address(std::string_view text) {
  const std::size_t zone = text.find('%');
  if (zone != text.npos && zone + 1 == text.size()) return false;
  in6_addr address{};
  return inet_pton(AF_INET6, std::string(text.substr(0, zone)).c_str(), &address) == 1;
}

bool is_own_address(const std::string& text) {
  const std::size_t zone = text.find('%');
  in_addr v4{};
  in6_addr v6{};
  const bool is_v4 = inet_pton(AF_INET, text.c_str(), &v4) == 1;
  if (!is_v4 && inet_pton(AF_INET6, text.substr(0, zone).c_str(), &v6) != 1) return false;
  // The whole of 127.0.0.0/8 is this host.
  if (is_v4 && ntohl(v4.s_addr) >> 24 == 127) return true;
  if (!is_v4 && IN6_IS_ADDR_LOOPBACK(&v6)) return true;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return false;
  bool found = false;
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    // Other hosts have the same link-local addresses on other links.
    if (zone != text.npos && text.substr(zone + 1) != at->ifa_name) continue;
    if (is_v4 && at->ifa_addr->sa_family == AF_INET)
      found |= reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr.s_addr == v4.s_addr;
    if (!is_v4 && at->ifa_addr->sa_family == AF_INET6)
      found |= std::memcmp(&reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr, &v6,
                           sizeof v6) == 0;
  }
  freeifaddrs(all);
  return found;
}

}  // namespace gex::os
