#pragma once
// Which provider of libfabric's carries a job, over which interface, and why.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/ofi/domain.h"
#include "net/ofi/fabric.h"

namespace gex::net::ofi {

/// A provider, and the fabric on which its interfaces lie, where that decides which ranks reach one
/// another.
struct Way {
  /// Ranks show each other so many bytes of the names, with a zero behind them.
  static constexpr std::size_t provider_room = 48;
  static constexpr std::size_t fabric_room = 64;
  std::string provider;
  std::string fabric;
  bool operator==(const Way&) const = default;
};

/// The user asks for these; empty: the conduit chooses.
struct Wish {
  std::string provider;   ///< "tcp;ofi_rxm", or "verbs" for whatever libfabric layers over it
  std::string interface;  ///< a domain as fi_info names it ("eth0", "mlx5_0"), or an IP address
  /// Between several hosts: the address by which they reach one another, where no interface is
  /// named; or empty. Networks with an interface of their own, which IP need not reach, are not
  /// bound to it.
  std::string address;
  bool one_host = true;  ///< all ranks on one host: nothing listens on other than the loopback
  bool threaded = false;
  /// Segments are reached by address, with the provider's keys, as FI_MR_BASIC has it.
  bool basic_registration = false;
  bool devices = false;      ///< there may be memory of devices, which is to be reached if possible
  std::uint32_t turn = 0;    ///< counts the ranks of this host, which spread over its interfaces
  std::vector<Way> refused;  ///< some rank cannot go these
  Broken broken = 0;         ///< some rank has found that of the provider
};

/// Returns what the environment and the kind of job ask for.
Wish wish_of(const Host& host, bool one_host);

/// A way that was found, or the reason why there is none.
struct Choice {
  Info info;                 ///< null: none
  std::vector<Info> others;  ///< further interfaces of this provider and fabric, in order
  std::string reason;        ///< one line
  Broken broken = 0;         ///< what is known not to be kept
};

Choice choose(const Wish& wish);

/// Returns the provider and fabric of an interface.
Way way_of(const fi_info& info);

/// Returns a provider's place in the order in which they are chosen; the first is 0.
std::size_t preference_of(std::string_view provider);

/// "tcp;ofi_rxm, interface lo (127.0.0.1)"
std::string name_of(const fi_info& info);

/// Returns true if the bytes go by the kernel's sockets, and so by IP.
bool is_over_sockets(const fi_info& info);

/// Returns true if the provider drives a network interface by itself, beside the kernel's sockets.
bool has_own_interface(const fi_info& info);

/// Returns what the provider asks of registered memory: FI_MR_... of today, also where it names
/// FI_MR_BASIC.
std::uint64_t registration_mode(const fi_info& info);

/// The names of all providers that are chosen without being named, best first, and then of those
/// that are used when asked for.
std::vector<std::string> known_providers();

/// Returns the interfaces over which this very provider could carry a job of this kind here, in the
/// order in which they are to be tried; empty: none.
std::vector<Info> usable_interfaces(const std::string& provider, const Wish& wish);

}  // namespace gex::net::ofi
