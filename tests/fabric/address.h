#pragma once
// Names of endpoints, in the format of the provider that is simulated.

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

/// Writes the name, of the format's size.
void write_name(const Address& address, int nic, void* to);
Address read_name(const void* name);

/// The address of an interface among those of documentation, in the network's order.
std::uint32_t ip_of(int nic);

}  // namespace gexsim
