#pragma once
// The capabilities of a network whose library registers memory of devices.

#include <gex/plugin/conduit.h>

#include <cstdint>

namespace gex::net {

/// The capabilities of a network that registers memory of the classes in a table, whose rows have a
/// `memory_class`, and transfers from and to it.
constexpr std::uint64_t device_capabilities(const auto& table) {
  std::uint64_t capabilities = 0;
  for (const auto& row : table)
    capabilities |= registers(row.memory_class) | transfers(row.memory_class);
  return capabilities;
}

}  // namespace gex::net
