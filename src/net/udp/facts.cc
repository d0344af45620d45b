#include "net/udp/facts.h"

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/host_addresses.h"
#include "net/udp/kernel_socket.h"
#include "net/udp/settings.h"

namespace gex::net::udp {

namespace {

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t mib = kib * kib;
  if (bytes >= 10 * mib) return std::to_string(bytes / mib) + " MiB";
  return std::to_string(bytes / kib) + " KiB";
}

/// The addresses, and what they are: "eth0 (10.0.0.5), packets of up to 1500 bytes".
std::string address_text(std::span<const HostAddress> usable, const SocketOptions& options) {
  std::string text;
  for (const HostAddress& one : usable) {
    text += (text.empty() ? "" : "; or ") + one.interface + " (" + one.address.host_text() +
            "), packets of up to " + std::to_string(options.mtu != 0 ? options.mtu : one.mtu) +
            " bytes" + (one.has_carrier ? "" : ", without a carrier");
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
  const std::vector<HostAddress> here = host_addresses(error);
  if (!error.empty()) return print("addresses", error);
  const auto usable = [&](bool one_host) {
    error.clear();
    return usable_addresses(settings.named, one_host, here, interface_variables, error);
  };
  const std::vector<HostAddress> outward = usable(false);
  print("on several hosts",
        error.empty()
            ? address_text(outward, settings.socket) +
                  (outward.size() > 1 ? ": the best by which the hosts reach each other" : "")
            : "none: " + error);
  const std::vector<HostAddress> inward = usable(true);
  print("on one host", error.empty() ? address_text(inward, settings.socket) : "none: " + error);
  if (!error.empty()) return;
  settings.socket.bind = inward[0].address.with_port(settings.first_port);
  const std::unique_ptr<KernelSocket> socket = KernelSocket::open(settings.socket, error);
  print("ports", settings.first_port == 0 ? "the system's choice"
                                          : std::to_string(settings.first_port) + " to " +
                                                std::to_string(settings.socket.last_port));
  if (socket == nullptr) return print("socket", error);
  print("receive buffer", buffer_text(*socket));
  print("batches", batch_text(socket->limits(), settings.socket));
  print("packets", "to other hosts as large as the path carries, which probes find out");
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
    const std::vector<HostAddress> here = host_addresses(error);
    std::vector<HostAddress> usable;
    if (error.empty())
      usable = usable_addresses(settings.named, !several_hosts, here, interface_variables, error);
    if (error.empty()) text = "datagrams over " + address_text(usable, settings.socket);
  }
  reason(context, error.empty() ? text.c_str() : error.c_str());
  return error.empty() ? by_processor : unusable;
}

std::string way_name(const Address& address, const std::string& interface) {
  return interface + (address.family() == AF_INET ? " ipv4" : " ipv6");
}

}  // namespace gex::net::udp
