#pragma once
// Names of endpoints, in the format of the provider that is simulated.

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>

#include "wire.h"

namespace gexsim {

struct AddressFormat {
  const char* word;  ///< of the knob
  std::uint32_t number;
  std::size_t size;
};
const AddressFormat& address_format();

/// Writes the name, of the format's size, which `size` becomes; 0, or libfabric's error if it had
/// no room.
int write_name(const Address& address, int nic, void* to, std::size_t& size);
Address read_name(const void* name);

/// The address of an interface among those of documentation, in the network's order.
std::uint32_t ip_of(int nic);
/// The one of version 6, of no endpoint and without a port.
sockaddr_in6 any_address_of(int nic);

}  // namespace gexsim
