#pragma once
// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed function of bytes whose 64 or 128 bits are
// not to be guessed without the key.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gex {

/// A key of 128 bits, as two little-endian words.
using SipKey = std::array<std::uint64_t, 2>;

/// Digests words that come one after the other, each eight bytes of the message, little-endian.
class SipHash {
 public:
  explicit constexpr SipHash(const SipKey& key) noexcept
      : v0_(0x736f6d6570736575 ^ key[0]),
        v1_(0x646f72616e646f6d ^ key[1]),
        v2_(0x6c7967656e657261 ^ key[0]),
        v3_(0x7465646279746573 ^ key[1]) {}

  constexpr void add(std::uint64_t word) noexcept {
    v3_ ^= word;
    rounds(2);
    v0_ ^= word;
    ++words_;
  }

  /// Returns the digest of all words and of up to seven bytes more, in the low bytes of `rest`.
  constexpr std::uint64_t finish(std::uint64_t rest = 0, unsigned rest_size = 0) noexcept {
    add_last(rest, rest_size);
    v2_ ^= 0xff;
    return rounds(4);
  }

 protected:
  constexpr void add_last(std::uint64_t rest, unsigned rest_size) noexcept {
    add(rest | (words_ * 8 + rest_size) << 56);
  }
  constexpr std::uint64_t rounds(int count) noexcept {
    for (; count > 0; --count) {
      v0_ += v1_;
      v2_ += v3_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v1_;
      v0_ += v3_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ = std::rotl(v2_, 32);
    }
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }
  std::uint64_t v0_, v1_, v2_, v3_;

 private:
  std::uint64_t words_ = 0;
};

/// The variant whose result has 128 bits: two little-endian words.
class SipHash128 : private SipHash {
 public:
  explicit constexpr SipHash128(const SipKey& key) noexcept : SipHash(key) { v1_ ^= 0xee; }
  using SipHash::add;
  constexpr std::array<std::uint64_t, 2> finish(std::uint64_t rest = 0,
                                                unsigned rest_size = 0) noexcept {
    add_last(rest, rest_size);
    v2_ ^= 0xee;
    const std::uint64_t first = rounds(4);
    v1_ ^= 0xdd;
    return {first, rounds(4)};
  }
};

/// The eight bytes there as a little-endian word.
inline std::uint64_t word_at(const std::byte* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// Fewer than eight bytes as a little-endian word, as if zeroes followed.
inline std::uint64_t part_of_word(std::span<const std::byte> bytes) noexcept {
  std::array<std::byte, 8> filled{};
  if (!bytes.empty()) std::memcpy(filled.data(), bytes.data(), bytes.size());
  return word_at(filled.data());
}

/// Returns the digest of bytes, by either of the two.
template <class Hash>
auto siphash_of(const SipKey& key, std::span<const std::byte> bytes) noexcept {
  Hash hash(key);
  while (bytes.size() >= 8) {
    hash.add(word_at(bytes.data()));
    bytes = bytes.subspan(8);
  }
  return hash.finish(part_of_word(bytes), static_cast<unsigned>(bytes.size()));
}
inline std::uint64_t siphash(const SipKey& key, std::span<const std::byte> bytes) noexcept {
  return siphash_of<SipHash>(key, bytes);
}
inline std::array<std::uint64_t, 2> siphash128(const SipKey& key,
                                               std::span<const std::byte> bytes) noexcept {
  return siphash_of<SipHash128>(key, bytes);
}

}  // namespace gex
