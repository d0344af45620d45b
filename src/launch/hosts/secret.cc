#include "launch/hosts/secret.h"

#include <sys/random.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/siphash.h"

namespace gex::launch {

static_assert(std::endian::native == std::endian::little);

std::optional<Secret> Secret::generate() noexcept {
  Bytes bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return std::nullopt;
  }
  return Secret(bytes);
}

Secret::Bytes Secret::prove(std::span<const std::byte> message) const noexcept {
  const std::array<std::uint64_t, 2> proof =
      siphash128({word_at(bytes_.data()), word_at(bytes_.data() + 8)}, message);
  Bytes bytes;
  std::memcpy(bytes.data(), proof.data(), sizeof proof);
  return bytes;
}

bool equal(const Secret::Bytes& one, const Secret::Bytes& other) noexcept {
  std::byte difference{};
  for (std::size_t i = 0; i < one.size(); ++i) difference |= one[i] ^ other[i];
  return difference == std::byte{};
}

}  // namespace gex::launch
