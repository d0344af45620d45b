#include "net/host_addresses.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>

#include "base/os_file.h"
#include "base/os_host.h"

namespace gex::net {

namespace {

std::uint32_t bits_of(const Address& mask) noexcept {
  std::uint32_t bits = 0;
  for (const std::byte byte : mask.host_bytes())
    bits += static_cast<std::uint32_t>(std::popcount(std::to_integer<unsigned>(byte)));
  return bits;
}

/// The address that the kernel sends from to a host far away; empty if it would not.
Address default_source(int family) {
  // Addresses that are for documents only: nothing is sent to them.
  const Address far = Address::parse(family == AF_INET ? "192.0.2.254" : "2001:db8::fffe", 9);
  const os::FileDescriptor probe(socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address source;
  socklen_t length = Address::max_length;
  if (!probe || connect(probe.get(), far.data(), far.length()) != 0 ||
      getsockname(probe.get(), source.data(), &length) != 0)
    return {};
  source.set_length(length);
  return source.with_port(0);
}

ifreq request_for(const char* interface) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  return request;
}

std::uint32_t speed_of(int socket, const char* interface) {
  ethtool_cmd command{};
  command.cmd = ETHTOOL_GSET;
  ifreq request = request_for(interface);
  request.ifr_data = reinterpret_cast<char*>(&command);
  if (ioctl(socket, SIOCETHTOOL, &request) != 0) return 0;
  const std::uint32_t speed = ethtool_cmd_speed(&command);
  return speed == UINT32_MAX || speed == UINT16_MAX ? 0 : speed;
}

/// Decides if an address is one that the user has named: an interface, an address, or a subnet.
class Named {
 public:
  explicit Named(std::string_view text) : text_(text) {
    const std::size_t slash = text.find('/');
    address_ = Address::parse(text.substr(0, slash), 0);
    if (address_.is_empty()) return;
    prefix_ = static_cast<std::uint32_t>(address_.host_bytes().size() * 8);
    if (slash == std::string_view::npos) return;
    const char* const end = text.data() + text.size();
    std::uint32_t prefix = 0;
    const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, prefix);
    if (error == std::errc() && stop == end && prefix <= prefix_)
      prefix_ = prefix;
    else
      address_ = {};
  }

  bool matches(const HostAddress& one) const {
    if (address_.is_empty()) return one.interface == text_;
    if (share_subnet(one.address, address_, prefix_)) return true;
    // The number of a subnet, as GASNET_WORKERIP has it: 10.0.0.0 without its bits.
    return share_subnet(one.address, address_, one.prefix) &&
           std::ranges::equal(subnet_number(address_, one.prefix), address_.host_bytes());
  }

 private:
  std::string_view text_;
  Address address_;
  std::uint32_t prefix_ = 0;
};

}  // namespace

std::vector<std::byte> subnet_number(const Address& address, std::uint32_t prefix) {
  const std::span<const std::byte> host = address.host_bytes();
  std::vector<std::byte> number(host.begin(), host.end());
  for (std::size_t i = 0; i < number.size(); ++i) {
    const std::size_t kept = prefix > 8 * i ? std::min<std::size_t>(8, prefix - 8 * i) : 0;
    number[i] &= static_cast<std::byte>(0xff00U >> kept);
  }
  return number;
}

bool share_subnet(const Address& one, const Address& other, std::uint32_t prefix) {
  return one.family() == other.family() &&
         subnet_number(one, prefix) == subnet_number(other, prefix);
}

std::vector<HostAddress> host_addresses(std::string& error) {
  std::vector<HostAddress> all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    error = std::string("the system does not list the interfaces of this host: ") +
            std::strerror(errno);
    return all;
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
  const os::FileDescriptor asked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Address sources[] = {default_source(AF_INET), default_source(AF_INET6)};
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr || (one->ifa_flags & IFF_UP) == 0)
      continue;
    HostAddress found;
    found.address = Address(one->ifa_addr).with_port(0);
    if (found.address.is_empty()) continue;
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
    if (found.address.family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
    found.interface = one->ifa_name;
    found.prefix = bits_of(Address(one->ifa_netmask));
    found.has_carrier = (one->ifa_flags & IFF_RUNNING) != 0;
    found.is_preferred = found.address == sources[0] || found.address == sources[1];
    ifreq request = request_for(one->ifa_name);
    if (ioctl(asked.get(), SIOCGIFMTU, &request) == 0)
      found.mtu = static_cast<std::size_t>(request.ifr_mtu);
    found.speed = speed_of(asked.get(), one->ifa_name);
    all.push_back(std::move(found));
  }
  return all;
}

std::uint64_t ip_stack() {
  // The machine, by its start, and its network namespace.
  const std::string boot = os::boot_id();
  struct stat status {};
  if (boot.empty() || stat("/proc/self/ns/net", &status) != 0) return 0;
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&hash](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
  };
  add(std::as_bytes(std::span(boot)));
  add(std::as_bytes(std::span(&status.st_ino, 1)));
  return hash;
}

std::string list_of(std::span<const HostAddress> here) {
  std::string list;
  for (const HostAddress& one : here)
    list += (list.empty() ? "" : ", ") + one.interface + " (" + one.address.host_text() + ")";
  return list.empty() ? "no interface is up with an address" : "there are " + list;
}

std::vector<HostAddress> usable_addresses(std::string_view named, bool one_host,
                                          std::span<const HostAddress> here,
                                          std::string_view variable, std::string& error) {
  std::vector<HostAddress> usable;
  std::vector<Named> wanted;
  for (std::string_view rest = named; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    wanted.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  for (const HostAddress& one : here) {
    if (named.empty()
            ? one.address.is_loopback() == one_host
            : std::ranges::any_of(wanted, [&](const Named& name) { return name.matches(one); }))
      usable.push_back(one);
  }
  std::ranges::stable_sort(usable, {}, [](const HostAddress& one) {
    return std::tuple(!one.has_carrier, one.address.family() != AF_INET, !one.is_preferred);
  });
  if (!usable.empty()) return usable;
  error = named.empty() ? std::string("no interface ") +
                              (one_host ? "of the loopback (lo) is up" : "to other hosts is up")
                        : "this host has no interface, address or subnet " + std::string(named);
  error += "; " + list_of(here);
  if (named.empty() && one_host)
    error +=
        "; bring it up (ip link set lo up), or, where all ranks share memory, choose no network "
        "(GEX_CONDUIT=smp)";
  if (!named.empty()) error += "; " + std::string(variable) + " asks for it";
  return {};
}

}  // namespace gex::net
