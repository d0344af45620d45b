#pragma once
// Which of this host's addresses a rank uses, and how large the packets to a peer may be.
//
// In a job of one host all ranks use the loopback. Otherwise each rank names the addresses that its
// host has, and from all of them every rank finds the same answer: the subnet in which the most
// hosts have an address, so that it works without routers where that is possible.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/udp/address.h"

namespace gex::net::udp {

/// An address of an interface of this host that is up.
struct HostAddress {
  std::string interface;
  Address address;           ///< port 0
  std::uint32_t prefix = 0;  ///< bits of it that name the subnet
  std::size_t mtu = 0;       ///< of the interface
};

/// All of them, in the system's order; those that are valid on one link only (fe80::) are left out.
std::vector<HostAddress> host_addresses();

/// What a rank offers its peers; its bytes are exchanged.
struct Candidate {
  Address address;
  std::uint32_t prefix = 0;
  std::uint32_t preferred =
      0;  ///< not 0: named by the user, or the one that the default route uses
};
inline constexpr std::size_t max_candidates = 8;
struct Candidates {
  Candidate all[max_candidates];  ///< an empty address: no candidate
  std::uint64_t stack = 0;        ///< `ip_stack()` of the rank
};

/// A number that processes share which have the same interfaces and addresses, even where they
/// count as several hosts, as in containers with `--network=host`; 0: unknown.
std::uint64_t ip_stack();

/// What is asked for in the environment.
struct Wish {
  std::string
      interface;  ///< name ("eth0"), address ("10.0.0.1") or subnet ("10.0.0.0/16"); or empty
  bool one_host = true;
};

/// The addresses of this host that the wish allows, the best first. Without any, `error` is one
/// line that names what there is.
Candidates candidates(const Wish& wish, std::span<const HostAddress> here, std::string& error);

/// The address that `rank` uses: a pure function of what all ranks offered, of which one of each
/// host counts. `host_of` has the host of each rank. An address that several hosts have, like that
/// of a bridge of containers, is used by none; hosts that share an IP stack are one. Empty after
/// setting `error`, which names the rank without one.
Address choose(std::uint32_t rank, std::span<const Candidates> of_ranks,
               std::span<const std::uint32_t> host_of, std::string& error);

/// Largest IP packet that the kernel sends from here to there now, from its route and what routers
/// have reported; that of Ethernet, if it has no route.
std::size_t path_mtu(const Address& from, const Address& to);

/// The least that every path carries: 576 bytes of IPv4, 1280 of IPv6.
std::size_t least_mtu(int family) noexcept;

/// Why a path that carries less cannot be used, in one line; empty: it carries that or more.
std::string why_too_narrow(const Address& from, const Address& to);

}  // namespace gex::net::udp
