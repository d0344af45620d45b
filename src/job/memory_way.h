#pragma once
// How a put or a get goes that has an end in memory of another kind than the host's, as the hang
// report and the timeline name it. Read by gextrace too, which links no room but base: constants
// only.

#include <cstdint>

namespace gex {

enum class MemoryWay : std::uint8_t {
  host = 0,      ///< both ends are the host's memory
  copies = 1,    ///< copies by the device
  network = 2,   ///< the network itself
  messages = 3,  ///< messages, whose payload each side copies
};
inline constexpr unsigned memory_way_bits = 2;

/// Returns "by messages", for example; null for memory of the host.
constexpr const char* name_of(MemoryWay way) noexcept {
  switch (way) {
    case MemoryWay::host:
      break;
    case MemoryWay::copies:
      return "by copies";
    case MemoryWay::network:
      return "by the network";
    case MemoryWay::messages:
      return "by messages";
  }
  return nullptr;
}

}  // namespace gex
