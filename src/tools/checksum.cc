// Checksums and counting zeros for gasnet_tools.h.

#include <gex/tools_memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

/// table[k][b]: what byte b adds to the remainder when k more bytes follow it, so that eight bytes
/// are taken at a time.
using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr Tables make_tables() {
  constexpr std::uint64_t polynomial = 0xc96c5795d7870f42u;  // ECMA-182, lowest power first
  Tables tables{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? polynomial : 0);
    }
    tables[0][byte] = remainder;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

std::uint64_t load_little_endian(const unsigned char* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
#if PLATFORM_ARCH_BIG_ENDIAN
  word = __builtin_bswap64(word);
#endif
  return word;
}

std::uint64_t load(const unsigned char* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

std::uint64_t gasnett_checksum(const void* bytes, int size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  const unsigned char* const end = at + (size > 0 ? size : 0);
  std::uint64_t remainder = ~std::uint64_t{0};
  for (; end - at >= 8; at += 8) {
    const std::uint64_t word = remainder ^ load_little_endian(at);
    remainder = 0;
    for (unsigned k = 0; k < 8; ++k) remainder ^= tables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; at != end; ++at) remainder = (remainder >> 8) ^ tables[0][(remainder ^ *at) & 0xff];
  return ~remainder;
}

std::size_t gasnett_count0s(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::size_t zeros = 0;
  for (; size >= 8; at += 8, size -= 8) {
    zeros += static_cast<std::size_t>(gasnett_count0s_uint64_t(load(at)));
  }
  for (; size > 0; ++at, --size) zeros += *at == 0 ? 1 : 0;
  return zeros;
}

std::size_t gasnett_count0s_copy(void* GASNETT_RESTRICT destination,
                                 const void* GASNETT_RESTRICT source, std::size_t size) {
  auto* to = static_cast<unsigned char*>(destination);
  const auto* from = static_cast<const unsigned char*>(source);
  std::size_t zeros = 0;
  for (; size >= 8; from += 8, to += 8, size -= 8) {
    const std::uint64_t word = load(from);
    std::memcpy(to, &word, sizeof word);
    zeros += static_cast<std::size_t>(gasnett_count0s_uint64_t(word));
  }
  for (; size > 0; ++from, ++to, --size) {
    *to = *from;
    zeros += *from == 0 ? 1 : 0;
  }
  return zeros;
}
