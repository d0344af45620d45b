#include "net/udp/path.h"

#include "base/os_file.h"
#include "net/host_addresses.h"

namespace gex::net::udp {

namespace {

constexpr std::size_t ethernet_mtu = 1500;

}  // namespace

std::size_t path_mtu(const Address& from, const Address& to) {
  const bool v4 = to.family() == AF_INET;
  const os::FileDescriptor socket(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Address source = from.with_port(0);
  int mtu = 0;
  socklen_t length = sizeof mtu;
  if (!socket || bind(socket.get(), source.data(), source.length()) != 0 ||
      connect(socket.get(), to.data(), to.length()) != 0 ||
      getsockopt(socket.get(), v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu,
                 &length) != 0 ||
      mtu <= 0)
    return ethernet_mtu;
  return static_cast<std::size_t>(mtu);
}

std::size_t interface_mtu(const Address& address) {
  std::string error;
  for (const HostAddress& one : host_addresses(error))
    if (one.address == address.with_port(0)) return one.mtu;
  return 0;
}

std::size_t least_mtu(int family) noexcept {
  return family == AF_INET ? 576 : 1280;
}

std::string why_too_narrow(const Address& from, const Address& to) {
  // Not what has been reported of the path, which may be forged.
  const std::size_t found = interface_mtu(from);
  const std::size_t mtu = found != 0 ? found : path_mtu(from, to);
  const std::size_t least = least_mtu(to.family());
  if (mtu >= least) return {};
  return "packets from " + from.host_text() + " to " + to.host_text() + " may have " +
         std::to_string(mtu) + " bytes, and udp needs " + std::to_string(least) +
         ": raise the MTU of the interface (ip link set INTERFACE mtu 1500)";
}

}  // namespace gex::net::udp
