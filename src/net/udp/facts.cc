#include "net/udp/facts.h"

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/udp/kernel_socket.h"
#include "net/udp/path.h"
#include "net/udp/settings.h"

namespace gex::net::udp {

namespace {

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t mib = kib * kib;
  if (bytes >= 10 * mib) return std::to_string(bytes / mib) + " MiB";
  return std::to_string(bytes / kib) + " KiB";
}

const HostAddress* find(std::span<const HostAddress> here, const Address& address) {
  for (const HostAddress& one : here)
    if (one.address == address) return &one;
  return nullptr;
}

/// The address, and what it is: "10.0.0.5, interface eth0, packets of 1500 bytes".
std::string address_text(const Candidates& candidates, std::span<const HostAddress> here,
                         const SocketOptions& options) {
  std::string text;
  for (const Candidate& one : candidates.all) {
    const HostAddress* const found = find(here, one.address);
    if (found == nullptr) continue;
    if (!text.empty()) text += "; or ";
    text += found->interface + " (" + one.address.host_text() + "), packets of " +
            std::to_string(options.mtu != 0 ? options.mtu : found->mtu) + " bytes";
  }
  return text;
}

std::string buffer_text(const KernelSocket& socket) {
  const KernelSocket::Buffers& buffers = socket.buffers();
  std::string text = size_text(buffers.receive) + " as the system counts, " +
                     std::to_string(socket.limits().receive_buffer / socket.charge(1472)) +
                     " datagrams of 1472 bytes";
  if (buffers.receive < buffers.wanted_receive)
    text += "; " + size_text(buffers.wanted_receive) +
            " were asked for: raise net.core.rmem_max (sysctl)";
  return text;
}

std::string batch_text(const SocketLimits& limits, const SocketOptions& options) {
  const auto means = [](bool has, bool wanted, const char* without) {
    return has ? std::string("yes") : wanted ? "no: the system lacks it" : std::string(without);
  };
  return "cutting by the system (GSO): " +
         means(limits.max_batch != 0, options.cut_in_kernel, "no: GEX_UDP_GSO=0") +
         "; joining (GRO): " + means(limits.joins, options.join, "no: GEX_UDP_GRO=0");
}

}  // namespace

void describe(const Host& host, void (*fact)(void* context, const char* name, const char* text),
              void* context) {
  const auto print = [&](const char* name, const std::string& text) {
    fact(context, name, text.c_str());
  };
  Settings settings;
  std::string error;
  if (!read_settings(host, settings, error)) return print("settings", error);
  const std::vector<HostAddress> here = host_addresses();
  settings.wish.one_host = false;
  const Candidates outward = candidates(settings.wish, here, error);
  print("on several hosts",
        error.empty() ? address_text(outward, here, settings.socket) : "none: " + error);
  error.clear();
  settings.wish.one_host = true;
  const Candidates inward = candidates(settings.wish, here, error);
  print("on one host",
        error.empty() ? address_text(inward, here, settings.socket) : "none: " + error);
  if (!error.empty()) return;
  settings.socket.bind = inward.all[0].address.with_port(settings.first_port);
  const std::unique_ptr<KernelSocket> socket = KernelSocket::open(settings.socket, error);
  print("ports", settings.first_port == 0 ? "the system's choice"
                                          : std::to_string(settings.first_port) + " to " +
                                                std::to_string(settings.socket.last_port));
  if (socket == nullptr) return print("socket", error);
  print("receive buffer", buffer_text(*socket));
  print("batches", batch_text(socket->limits(), settings.socket));
  print("authenticated", settings.covers_bulk
                             ? "all of each datagram"
                             : "all but the data of puts and gets: GEX_UDP_AUTHENTICATE=header");
  print("put and get", "by the network, in datagrams that go straight to their place");
}

Standing standing(const Host& host, bool several_hosts,
                  void (*reason)(void* context, const char* text), void* context) {
  Settings settings;
  std::string error;
  std::string text;
  if (read_settings(host, settings, error)) {
    settings.wish.one_host = !several_hosts;
    const std::vector<HostAddress> here = host_addresses();
    const Candidates found = candidates(settings.wish, here, error);
    if (error.empty()) text = "datagrams over " + address_text(found, here, settings.socket);
  }
  reason(context, error.empty() ? text.c_str() : error.c_str());
  return error.empty() ? by_processor : unusable;
}

Way way_over(const Address& address, const Wish& wish) {
  const std::vector<HostAddress> here = host_addresses();
  const HostAddress* const found = find(here, address.with_port(0));
  Way way;
  way.name = (found != nullptr ? found->interface : address.host_text()) +
             (address.family() == AF_INET ? " ipv4" : " ipv6");
  way.reason = address.host_text();
  if (!wish.interface.empty())
    way.reason += ", as " + wish.interface + " asks (GEX_UDP_INTERFACE or GASNET_WORKERIP)";
  else
    way.reason += wish.one_host ? ", since all ranks are on one host"
                                : ", in the subnet in which the most hosts have an address";
  return way;
}

}  // namespace gex::net::udp
