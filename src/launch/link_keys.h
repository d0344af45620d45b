#pragma once
// The keys of one authenticated connection between a guardian and the root, by which its frames are
// sealed (hosts/link.h). Each end sends with the key that the other receives with.

#include <array>
#include <cstddef>

namespace gex::launch {

struct LinkKeys {
  std::array<std::byte, 16> send{};
  std::array<std::byte, 16> receive{};
};

}  // namespace gex::launch
