#pragma once
// The IP addresses of this host, and what they are good for.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/address.h"

namespace gex::net {

/// An address of an interface of this host that is up.
struct HostAddress {
  std::string interface;
  Address address;            ///< port 0
  std::uint32_t prefix = 0;   ///< bits of it that name the subnet
  std::size_t mtu = 0;        ///< of the interface
  std::uint32_t speed = 0;    ///< of the interface, in Mbit/s; 0: unknown
  bool has_carrier = true;    ///< its cable is plugged in, or its other end exists
  bool is_preferred = false;  ///< the source of what is sent to hosts far away
};

/// All of them, in the system's order; those that are valid on one link only (fe80::) are left out.
/// Where the system does not list them, none, and `error` is one line.
std::vector<HostAddress> host_addresses(std::string& error);

/// A number that processes share which have the same interfaces and addresses, even where they
/// count as several hosts, as in containers with `--network=host`; 0: unknown.
std::uint64_t ip_stack();

/// "there are eth0 (10.0.0.5), docker0 (172.17.0.1)"
std::string list_of(std::span<const HostAddress> here);

/// The addresses that `named` means (interfaces, addresses or subnets, with or without the number
/// of their bits, separated by commas), or, if that is empty, all but the loopback's, or with
/// `one_host` only those. The best first: with a carrier, IPv4, whose headers are shorter, the one
/// of the default route. Without any, `error` is one line that names what there is; `variable`:
/// what `named` is the value of.
std::vector<HostAddress> usable_addresses(std::string_view named, bool one_host,
                                          std::span<const HostAddress> here,
                                          std::string_view variable, std::string& error);

/// The number of an address's subnet of `prefix` bits: as many bytes as the address has.
std::vector<std::byte> subnet_number(const Address& address, std::uint32_t prefix);

/// Returns true if two addresses are of one subnet of `prefix` bits.
bool share_subnet(const Address& one, const Address& other, std::uint32_t prefix);

}  // namespace gex::net
