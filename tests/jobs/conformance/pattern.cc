#include "pattern.h"

#include <bit>
#include <cstring>

namespace conformance {
namespace {

static_assert(std::endian::native == std::endian::little, "words are stored lowest byte first");
constexpr std::size_t word = sizeof(std::uint64_t);

}  // namespace

void fill(void* to, std::uint64_t seed, std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(to);
  std::size_t at = 0;
  for (; bytes - at >= word; at += word) {
    const std::uint64_t eight = pattern_word(seed, at / word);
    std::memcpy(memory + at, &eight, word);
  }
  for (; at < bytes; ++at) memory[at] = pattern(seed, at);
}

std::size_t first_difference(const void* memory, std::uint64_t seed, std::size_t bytes) {
  const auto* const in = static_cast<const std::byte*>(memory);
  std::size_t at = 0;
  for (; bytes - at >= word; at += word) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, in + at, word);
    if (eight != pattern_word(seed, at / word)) break;
  }
  for (; at < bytes; ++at) {
    if (in[at] != pattern(seed, at)) return at;
  }
  return bytes;
}

}  // namespace conformance
