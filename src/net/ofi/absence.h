#pragma once
// Why a provider of libfabric's is not to be had on this machine, and what mends that: a library
// that was built without it, a filter in the environment, no device, or a device without
// permission, link, address or registered memory.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gex::net::ofi {

/// The parts of a machine that are looked at beside libfabric. Tests have machines of their own.
struct Machine {
  std::string root;  ///< stands in front of /sys and /dev
  /// Bytes that this process may lock, as registered memory is; nothing: no limit.
  std::optional<std::uint64_t> lockable;
  /// Returns true if a network interface of the kernel's ("ib0") has an IP address.
  std::function<bool(const std::string& interface)> has_address;
};

Machine this_machine();

/// Returns the reason why libfabric offers nothing of `provider` ("cxi", "verbs;ofi_rxm") that this
/// conduit could use, in one line. `exactly`: what is layered over it does not count.
std::string why_absent(const std::string& provider, bool exactly, const Machine& machine);

/// Returns the devices of this machine that `provider` is for, separated by commas; empty: there
/// are none, or it is unknown.
std::string devices_of(const std::string& provider, const Machine& machine);

/// Returns what keeps the devices of `provider` from being used, separated by semicolons; empty:
/// nothing is seen.
std::string faults_of_devices(const std::string& provider, const Machine& machine);

/// Returns the limit of memory that a process may register, and what raises it; empty: there is
/// none.
std::string limit_of_registration(const Machine& machine);

/// Returns true if the value of FI_PROVIDER ("tcp,shm", "^cxi") leaves a provider out.
bool is_filtered(const std::string& filter, const std::string& provider);

/// "1.17.0", of the library that runs
std::string library_version();

}  // namespace gex::net::ofi
