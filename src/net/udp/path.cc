#include "net/udp/path.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace gex::net::udp {

namespace {

constexpr std::size_t ethernet_mtu = 1500;

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

std::uint32_t bits_of(const Address& mask) noexcept {
  std::uint32_t bits = 0;
  for (const std::byte byte : mask.host_bytes())
    bits += static_cast<std::uint32_t>(std::popcount(std::to_integer<unsigned>(byte)));
  return bits;
}

/// A subnet's family, bits and number.
using Subnet = std::tuple<int, std::uint32_t, std::vector<std::byte>>;

Subnet subnet_of(const Address& address, std::uint32_t prefix) {
  const std::span<const std::byte> host = address.host_bytes();
  std::vector<std::byte> number(host.begin(), host.end());
  for (std::size_t i = 0; i < number.size(); ++i) {
    const std::size_t kept = prefix > 8 * i ? std::min<std::size_t>(8, prefix - 8 * i) : 0;
    number[i] &= static_cast<std::byte>(0xff00U >> kept);
  }
  return {address.family(), prefix, std::move(number)};
}

/// The address that the kernel sends from to a host far away; of no family if it would not.
Address default_source(int family) {
  // Addresses that are for documents only: nothing is sent to them.
  const Address far = Address::parse(family == AF_INET ? "192.0.2.254" : "2001:db8::fffe", 9);
  const Descriptor socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address source;
  socklen_t length = Address::max_length;
  if (socket.number() < 0 || connect(socket.number(), far.data(), far.length()) != 0 ||
      getsockname(socket.number(), source.data(), &length) != 0)
    return {};
  source.set_length(length);
  return source.with_port(0);
}

std::string list_of(std::span<const HostAddress> here) {
  std::string list;
  for (const HostAddress& one : here)
    list += (list.empty() ? "" : ", ") + one.interface + " (" + one.address.host_text() + ")";
  return list.empty() ? "no interface is up with an address" : "there are " + list;
}

/// Whether an address is one that the user has named: an interface, an address, or a subnet.
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
    if (one.address.family() != address_.family()) return false;
    if (subnet_of(one.address, prefix_) == subnet_of(address_, prefix_)) return true;
    // The number of a subnet, as GASNET_WORKERIP has it: 10.0.0.0 without its bits.
    return subnet_of(address_, one.prefix) == subnet_of(one.address, one.prefix) &&
           std::get<2>(subnet_of(address_, one.prefix)) ==
               std::vector<std::byte>(address_.host_bytes().begin(), address_.host_bytes().end());
  }

 private:
  std::string_view text_;
  Address address_;
  std::uint32_t prefix_ = 0;
};

}  // namespace

std::vector<HostAddress> host_addresses() {
  std::vector<HostAddress> all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return all;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
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
    ifreq request{};
    std::strncpy(request.ifr_name, one->ifa_name, IFNAMSIZ - 1);
    if (ioctl(socket.number(), SIOCGIFMTU, &request) == 0)
      found.mtu = static_cast<std::size_t>(request.ifr_mtu);
    all.push_back(std::move(found));
  }
  return all;
}

std::uint64_t ip_stack() {
  // The machine, by the number that it draws when it starts, and its network namespace.
  const Descriptor file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char boot[36];
  struct stat status {};
  if (file.number() < 0 || read(file.number(), boot, sizeof boot) != sizeof boot ||
      stat("/proc/self/ns/net", &status) != 0)
    return 0;
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&hash](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
  };
  add(std::as_bytes(std::span(boot)));
  add(std::as_bytes(std::span(&status.st_ino, 1)));
  return hash;
}

Candidates candidates(const Wish& wish, std::span<const HostAddress> here, std::string& error) {
  std::vector<const HostAddress*> allowed;
  const Named named(wish.interface);
  for (const HostAddress& one : here) {
    if (wish.interface.empty() ? one.address.is_loopback() == wish.one_host : named.matches(one))
      allowed.push_back(&one);
  }
  if (allowed.empty()) {
    error = wish.interface.empty()
                ? std::string("no interface ") +
                      (wish.one_host ? "of the loopback (lo) is up" : "to other hosts is up")
                : "this host has no interface, address or subnet " + wish.interface;
    error += "; " + list_of(here);
    if (wish.interface.empty() && wish.one_host)
      error +=
          "; bring it up (ip link set lo up), or, where all ranks share memory, choose no network "
          "(GEX_CONDUIT=smp)";
    if (!wish.interface.empty()) error += "; GEX_UDP_INTERFACE or GASNET_WORKERIP asks for it";
    return {};
  }
  const Address sources[] = {default_source(AF_INET), default_source(AF_INET6)};
  const auto is_preferred = [&](const HostAddress& one) {
    return one.address == sources[0] || one.address == sources[1];
  };
  // IPv4 first, whose headers are shorter; of each family that of the default route.
  std::ranges::stable_sort(allowed, {}, [&](const HostAddress* one) {
    return std::pair(one->address.family() != AF_INET, !is_preferred(*one));
  });
  Candidates result;
  for (std::size_t i = 0; i < std::min(allowed.size(), max_candidates); ++i) {
    result.all[i] = {.address = allowed[i]->address,
                     .prefix = allowed[i]->prefix,
                     .preferred = is_preferred(*allowed[i]) ? 1U : 0U};
  }
  return result;
}

Address choose(std::uint32_t rank, std::span<const Candidates> of_ranks,
               std::span<const std::uint32_t> host_of, std::string& error) {
  // A host, or several with one IP stack, is represented by its first rank: each may have been
  // given another interface by its user, so their own offers count for themselves below.
  std::map<std::uint32_t, std::uint32_t> first_rank;
  std::set<std::uint64_t> stacks;
  for (std::uint32_t i = 0; i < of_ranks.size(); ++i) {
    const std::uint64_t stack = of_ranks[i].stack;
    if (first_rank.contains(host_of[i]) || stacks.contains(stack)) continue;
    first_rank.emplace(host_of[i], i);
    if (stack != 0) stacks.insert(stack);
  }

  std::map<std::vector<std::byte>, unsigned> hosts_with;
  const auto number = [](const Address& address) {
    return std::vector<std::byte>(address.host_bytes().begin(), address.host_bytes().end());
  };
  for (const auto& [host, first] : first_rank) {
    for (const Candidate& one : of_ranks[first].all)
      if (!one.address.is_empty()) ++hosts_with[number(one.address)];
  }
  const auto is_usable = [&](const Candidate& one) {
    return !one.address.is_empty() &&
           (one.address.is_loopback() ? first_rank.size() == 1
                                      : hosts_with[number(one.address)] <= 1);
  };

  // How many hosts have an address in a subnet.
  std::map<Subnet, unsigned> reach;
  for (const auto& [host, first] : first_rank) {
    std::set<Subnet> of_host;
    for (const Candidate& one : of_ranks[first].all)
      if (is_usable(one)) of_host.insert(subnet_of(one.address, one.prefix));
    for (const Subnet& subnet : of_host) ++reach[subnet];
  }
  // The widest; of several the one that rank 0 names first.
  const Subnet* best = nullptr;
  int family = 0;
  for (const Candidate& one : of_ranks[0].all) {
    if (!is_usable(one)) continue;
    const auto found = reach.find(subnet_of(one.address, one.prefix));
    if (found != reach.end() && (best == nullptr || found->second > reach[*best])) {
      best = &found->first;
      family = one.address.family();
    }
  }
  if (best == nullptr) {
    error = "rank 0 has no address that other hosts can reach";
    std::string shared;
    for (const Candidate& one : of_ranks[0].all)
      if (!one.address.is_empty() && !one.address.is_loopback())
        shared += (shared.empty() ? "" : ", ") + one.address.host_text();
    if (!shared.empty())
      error += ": several hosts have " + shared + ", each on a network of its own";
    return {};
  }
  // The address in it; without one, routers will have to do.
  for (const Candidate& one : of_ranks[rank].all)
    if (is_usable(one) && subnet_of(one.address, one.prefix) == *best) return one.address;
  for (const Candidate& one : of_ranks[rank].all)
    if (is_usable(one) && one.address.family() == family) return one.address;
  error = "rank " + std::to_string(rank) + " has no IPv" + (family == AF_INET ? "4" : "6") +
          " address, which rank 0 uses; GEX_UDP_INTERFACE can name a subnet that all hosts have";
  return {};
}

std::size_t path_mtu(const Address& from, const Address& to) {
  const bool v4 = to.family() == AF_INET;
  const Descriptor socket(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Address source = from.with_port(0);
  int mtu = 0;
  socklen_t length = sizeof mtu;
  if (socket.number() < 0 || bind(socket.number(), source.data(), source.length()) != 0 ||
      connect(socket.number(), to.data(), to.length()) != 0 ||
      getsockopt(socket.number(), v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu,
                 &length) != 0 ||
      mtu <= 0)
    return ethernet_mtu;
  return static_cast<std::size_t>(mtu);
}

std::size_t least_mtu(int family) noexcept {
  return family == AF_INET ? 576 : 1280;
}

std::string why_too_narrow(const Address& from, const Address& to) {
  const std::size_t mtu = path_mtu(from, to);
  const std::size_t least = least_mtu(to.family());
  if (mtu >= least) return {};
  return "packets from " + from.host_text() + " to " + to.host_text() + " may have " +
         std::to_string(mtu) + " bytes, and udp needs " + std::to_string(least) +
         ": raise the MTU of the interface (ip link set INTERFACE mtu 1500)";
}

}  // namespace gex::net::udp
